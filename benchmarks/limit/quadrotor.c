/* Speed limit of a machine for simulated quadrotors: the same kind of work as a step of Kittiwake,
 * with nothing around it.
 *
 * Rigid body with a unit quaternion (body to world, scalar first) and four rotors with first-order
 * lag, integrated by classical Runge-Kutta; a PD cascade of position and attitude gives the speeds
 * of the rotors once a step. World ENU, body FLU, SI units, single precision. About 600
 * floating-point operations a step.
 *
 * LANES vehicles are a block: each variable of a block is a vector over its vehicles (an extension of
 * C that GCC and Clang have). A block stays in the L1 cache for all steps, and OpenMP shares the
 * blocks out to threads.
 *
 * Arguments: vehicles, steps, repeats. Prints the best rate of the repeats as a line of JSON.
 */

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define LANES 16

typedef float Vector __attribute__((vector_size(LANES * sizeof(float))));

enum {
    X, Y, Z,                /* position in the world */
    VX, VY, VZ,             /* velocity in the world */
    QW, QX, QY, QZ,         /* rotation from body to world */
    WX, WY, WZ,             /* body rates */
    R0, R1, R2, R3,         /* speeds of the rotors: front, left, back, right */
    VARIABLES
};

static const float DT_S = 0.002f;
static const float GRAVITY_MPS2 = 9.81f;
static const float MASS_KG = 0.68f;
static const float INERTIA_X_KGM2 = 7.0e-3f, INERTIA_Y_KGM2 = 7.0e-3f, INERTIA_Z_KGM2 = 1.2e-2f;
static const float ARM_M = 0.17f;
static const float THRUST_NS2 = 8.5e-6f;      /* of a rotor, per square of its speed */
static const float TORQUE_RATIO_M = 0.016f;   /* torque per thrust */
static const float ROTOR_LAG_S = 0.02f;
static const float DRAG_KGPS = 0.06f;
static const float MIN_THRUST_N = 0.05f, MAX_THRUST_N = 4.5f;
static const float POSITION_GAIN_PER_S2 = 4.0f, VELOCITY_GAIN_PER_S = 3.0f;
static const float ATTITUDE_GAIN_PER_S2 = 120.0f, RATE_GAIN_PER_S = 20.0f;
static const float SETPOINT_M[3] = {1.0f, -0.5f, 2.0f};

typedef struct {
    Vector of[VARIABLES];
} Block;

static inline Vector root(Vector x) {
    Vector result;
    for (int i = 0; i < LANES; i++) result[i] = sqrtf(x[i]);
    return result;
}

static inline Vector clamp(Vector x, float least, float most) {
    for (int i = 0; i < LANES; i++) x[i] = x[i] < least ? least : x[i];
    for (int i = 0; i < LANES; i++) x[i] = x[i] > most ? most : x[i];
    return x;
}

/* Rotor speeds that the cascade commands. */
static inline void control(const Vector s[VARIABLES], Vector command[4]) {
    const Vector qw = s[QW], qx = s[QX], qy = s[QY], qz = s[QZ];

    /* acceleration to the setpoint, with gravity: the direction of thrust */
    const Vector ax = POSITION_GAIN_PER_S2 * (SETPOINT_M[0] - s[X])
                     - VELOCITY_GAIN_PER_S * s[VX];
    const Vector ay = POSITION_GAIN_PER_S2 * (SETPOINT_M[1] - s[Y])
                     - VELOCITY_GAIN_PER_S * s[VY];
    const Vector az = POSITION_GAIN_PER_S2 * (SETPOINT_M[2] - s[Z])
                     - VELOCITY_GAIN_PER_S * s[VZ] + GRAVITY_MPS2;
    const Vector length = root(ax * ax + ay * ay + az * az);
    const Vector inverse = 1.0f / length;

    /* that direction in the body, by the transposed rotation matrix */
    const Vector dx = inverse * ((1.0f - 2.0f * (qy * qy + qz * qz)) * ax
                                + 2.0f * (qx * qy + qw * qz) * ay
                                + 2.0f * (qx * qz - qw * qy) * az);
    const Vector dy = inverse * (2.0f * (qx * qy - qw * qz) * ax
                                + (1.0f - 2.0f * (qx * qx + qz * qz)) * ay
                                + 2.0f * (qy * qz + qw * qx) * az);

    /* tilt error = body axis z cross direction; yaw is held at zero */
    const Vector rx = -ATTITUDE_GAIN_PER_S2 * dy - RATE_GAIN_PER_S * s[WX];
    const Vector ry = ATTITUDE_GAIN_PER_S2 * dx - RATE_GAIN_PER_S * s[WY];
    const Vector rz = -2.0f * qw * qz * RATE_GAIN_PER_S - RATE_GAIN_PER_S * s[WZ];

    const Vector thrust = 0.25f * MASS_KG * length;
    const Vector roll = (0.5f / ARM_M) * INERTIA_X_KGM2 * rx;
    const Vector pitch = (0.5f / ARM_M) * INERTIA_Y_KGM2 * ry;
    const Vector yaw = (0.25f / TORQUE_RATIO_M) * INERTIA_Z_KGM2 * rz;
    const Vector thrusts[4] = {thrust - pitch - yaw, thrust + roll + yaw,
                              thrust + pitch - yaw, thrust - roll + yaw};
    for (int rotor = 0; rotor < 4; rotor++) {
        const Vector allowed = clamp(thrusts[rotor], MIN_THRUST_N, MAX_THRUST_N);
        command[rotor] = root(allowed * (1.0f / THRUST_NS2));
    }
}

/* Time derivative of a state. */
static inline void derivative(const Vector s[VARIABLES], const Vector command[4],
                              Vector rate[VARIABLES]) {
    const Vector qw = s[QW], qx = s[QX], qy = s[QY], qz = s[QZ];
    const Vector wx = s[WX], wy = s[WY], wz = s[WZ];
    Vector thrust[4];
    for (int rotor = 0; rotor < 4; rotor++) {
        thrust[rotor] = THRUST_NS2 * s[R0 + rotor] * s[R0 + rotor];
        rate[R0 + rotor] = (command[rotor] - s[R0 + rotor]) * (1.0f / ROTOR_LAG_S);
    }
    const Vector lift = (thrust[0] + thrust[1] + thrust[2] + thrust[3]) * (1.0f / MASS_KG);
    const Vector tx = ARM_M * (thrust[1] - thrust[3]);
    const Vector ty = ARM_M * (thrust[2] - thrust[0]);
    const Vector tz = TORQUE_RATIO_M * (thrust[1] + thrust[3] - thrust[0] - thrust[2]);

    rate[X] = s[VX];
    rate[Y] = s[VY];
    rate[Z] = s[VZ];
    rate[VX] = 2.0f * (qx * qz + qw * qy) * lift - (DRAG_KGPS / MASS_KG) * s[VX];
    rate[VY] = 2.0f * (qy * qz - qw * qx) * lift - (DRAG_KGPS / MASS_KG) * s[VY];
    rate[VZ] = (1.0f - 2.0f * (qx * qx + qy * qy)) * lift - (DRAG_KGPS / MASS_KG) * s[VZ]
               - GRAVITY_MPS2;
    rate[QW] = -0.5f * (qx * wx + qy * wy + qz * wz);
    rate[QX] = 0.5f * (qw * wx + qy * wz - qz * wy);
    rate[QY] = 0.5f * (qw * wy + qz * wx - qx * wz);
    rate[QZ] = 0.5f * (qw * wz + qx * wy - qy * wx);
    rate[WX] = (tx - (INERTIA_Z_KGM2 - INERTIA_Y_KGM2) * wy * wz) * (1.0f / INERTIA_X_KGM2);
    rate[WY] = (ty - (INERTIA_X_KGM2 - INERTIA_Z_KGM2) * wz * wx) * (1.0f / INERTIA_Y_KGM2);
    rate[WZ] = (tz - (INERTIA_Y_KGM2 - INERTIA_X_KGM2) * wx * wy) * (1.0f / INERTIA_Z_KGM2);
}

/* One step by classical Runge-Kutta. */
static inline void advance(Vector s[VARIABLES]) {
    Vector command[4], first[VARIABLES], second[VARIABLES], third[VARIABLES], fourth[VARIABLES];
    Vector point[VARIABLES];
    control(s, command);
    derivative(s, command, first);
    for (int v = 0; v < VARIABLES; v++) point[v] = s[v] + 0.5f * DT_S * first[v];
    derivative(point, command, second);
    for (int v = 0; v < VARIABLES; v++) point[v] = s[v] + 0.5f * DT_S * second[v];
    derivative(point, command, third);
    for (int v = 0; v < VARIABLES; v++) point[v] = s[v] + DT_S * third[v];
    derivative(point, command, fourth);
    for (int v = 0; v < VARIABLES; v++) {
        s[v] += DT_S / 6.0f * (first[v] + 2.0f * (second[v] + third[v]) + fourth[v]);
    }
    const Vector norm =
        1.0f / root(s[QW] * s[QW] + s[QX] * s[QX] + s[QY] * s[QY] + s[QZ] * s[QZ]);
    for (int v = QW; v <= QZ; v++) s[v] *= norm;
}

static void fly(Block *block, int steps) {
    for (int step = 0; step < steps; step++) advance(block->of);
}

static void start(Block *blocks, int count) {
    for (int b = 0; b < count; b++) {
        for (int v = 0; v < VARIABLES; v++) {
            for (int i = 0; i < LANES; i++) {
                /* no two neighbors begin at the same place */
                const float place = 0.1f * (float)((b + i) % 7) - 0.3f;
                blocks[b].of[v][i] = v == QW ? 1.0f : v >= R0 ? 430.0f : v <= Z ? place : 0.0f;
            }
        }
    }
}

/* Largest distance of a vehicle from the setpoint; infinite if a number is not finite. */
static double farthest_m(const Block *blocks, int count) {
    double farthest = 0.0;
    for (int b = 0; b < count; b++) {
        for (int i = 0; i < LANES; i++) {
            double square = 0.0;
            for (int axis = 0; axis < 3; axis++) {
                const double apart = blocks[b].of[X + axis][i] - SETPOINT_M[axis];
                square += apart * apart;
            }
            if (!(square < 1e12)) square = 1e12;
            farthest = square > farthest ? square : farthest;
        }
    }
    return sqrt(farthest);
}

int main(int count, char **given) {
    if (count != 4) {
        fprintf(stderr, "usage: %s VEHICLES STEPS REPEATS\n", given[0]);
        return 2;
    }
    const int number = (atoi(given[1]) + LANES - 1) / LANES;
    const int steps = atoi(given[2]), repeats = atoi(given[3]);
    Block *blocks = aligned_alloc(64, (size_t)number * sizeof(Block));
    if (number < 1 || steps < 1 || repeats < 1 || blocks == NULL) {
        fprintf(stderr, "vehicles, steps and repeats must be positive\n");
        return 2;
    }
    start(blocks, number);
    double best_s = HUGE_VAL;
    for (int repeat = 0; repeat < repeats; repeat++) {
        const double began_s = omp_get_wtime();
#pragma omp parallel for schedule(static)
        for (int b = 0; b < number; b++) fly(&blocks[b], steps);
        const double seconds = omp_get_wtime() - began_s;
        best_s = seconds < best_s ? seconds : best_s;
    }
    printf("{\"vehicles\": %d, \"steps\": %d, \"threads\": %d, \"steps_per_s\": %.6g, "
           "\"farthest_m\": %.6g}\n",
           number * LANES, steps, omp_get_max_threads(), (double)number * LANES * steps / best_s,
           farthest_m(blocks, number));
    free(blocks);
    return 0;
}
