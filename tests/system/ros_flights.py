"""Evaluation of served flights, and code of a ROS 1 node that flies the drones."""

import numpy as np

TIME, X, Y, Z, VX, VY, VZ, QW, QX, QY, QZ, WX, WY, WZ = range(14)
# a step response is settled within this share of the step
SETTLED = 0.02

# code that flies one drone from a position and records its odometry, in simulation time
FLY = """
from gazebo_msgs.msg import ModelState
from gazebo_msgs.srv import SetModelState
from sensor_msgs.msg import Joy
from std_msgs.msg import Float64
from std_srvs.srv import Empty, Trigger
from tf2_msgs.msg import TFMessage

STEP_S = 0.001

def pause():
    service("/gazebo/pause_physics", Empty)()
    time.sleep(0.15)

class Drone:
    def __init__(self, name):
        self.name, self.rows, self.recording = name, [], False
        self.latest, self.since = None, 0.0
        rospy.Subscriber(f"/{name}/odometry", Odometry, self.on_odometry, queue_size=5000)
        service("/gazebo/unpause_physics", Empty)()
        while self.latest is None:
            time.sleep(0.005)

    def on_odometry(self, m):
        self.latest = m.header.stamp.to_sec()
        if not self.recording:
            return
        p, v, q, w = (m.pose.pose.position, m.twist.twist.linear, m.pose.pose.orientation,
                      m.twist.twist.angular)
        self.rows.append([self.latest - self.since, p.x, p.y, p.z, v.x, v.y, v.z,
                          q.w, q.x, q.y, q.z, w.x, w.y, w.z])

    def place(self, x, y, z):
        state = ModelState(model_name=self.name)
        state.pose.position.x, state.pose.position.y, state.pose.position.z = x, y, z
        state.pose.orientation.w = 1.0
        response = service("/gazebo/set_model_state", SetModelState)(state)
        assert response.success, response.status_message

    def switch(self, mode):
        return service(f"/{self.name}/switch_mode", SwitchMode)(ControlMode(mode)).success

    def mode(self):
        return service(f"/{self.name}/get_mode", GetMode)().mode.mode

    def command(self, topic, message):
        publisher(f"/{self.name}/{topic}/command", type(message)).publish(message)
        time.sleep(0.1)

    def until(self, seconds):
        end = self.rows[0][0] + seconds
        wall = time.time() + 8.0 * seconds + 20.0
        while self.rows[-1][0] < end:
            assert time.time() < wall, "too slow"
            time.sleep(0.02)

    def begin(self):
        # the first message may get lost, its time is known
        self.since = self.latest + STEP_S
        self.rows, self.recording = [], True
        service("/gazebo/unpause_physics", Empty)()
        while not self.rows:
            time.sleep(0.005)

    def flown(self, place, mode, topic=None, message=None, seconds=1.0):
        # all commands are sent while the time is paused
        pause()
        self.switch(0)
        self.place(*place)
        if message is not None:
            self.command(topic, message)
        assert self.switch(mode)
        self.begin()
        self.until(seconds)
        self.recording = False
        return [row for row in self.rows if row[0] <= seconds + 1e-6]
"""


def settling_time_s(rows, error):
    """Return the time from which an error stays below its share of the initial error."""
    late = np.flatnonzero(np.abs(error) > SETTLED * np.abs(error[0]))
    return rows[late[-1] + 1, TIME]


def rise_time_s(rows, value, end):
    """Return the time at which a first-order lag has reached 1 - 1/e of its end value."""
    return rows[np.argmax(value >= (1.0 - np.exp(-1.0)) * end), TIME]
