"""Moments of inertia against integrals over the bodies, and the rules that they obey."""

import numpy as np
import pytest

from kittiwake.geometry.vec3 import Vec3
from kittiwake.physics.mass_elements import (
    MassElement,
    combine_masses,
    crossed_quadrotor,
    cuboid,
    cylinder,
)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def inertia_of(points, masses):
    """The matrix of points with masses, about their center of mass."""
    arms = points - (masses[:, None] * points).sum(axis=0) / masses.sum()
    squares = np.einsum("ni,ni->n", arms, arms)
    return np.einsum("n,nij->ij", masses, squares[:, None, None] * np.eye(3)) - np.einsum(
        "n,ni,nj->ij", masses, arms, arms
    )


def box(mass, edges, center=(0.0, 0.0, 0.0)):
    """A cuboid as points with masses, by a rule that is exact for polynomials."""
    grid = np.stack(np.meshgrid(NODES, NODES, NODES, indexing="ij"), axis=-1).reshape(-1, 3)
    masses = np.einsum("i,j,k->ijk", WEIGHTS, WEIGHTS, WEIGHTS).reshape(-1)
    return grid * np.asarray(edges) / 2.0 + center, mass * masses / masses.sum()


def rod(mass, radius, length, axis, center=(0.0, 0.0, 0.0)):
    """A cylinder as points with masses; its first axis is the one along it."""
    angles = 2.0 * np.pi * np.arange(16) / 16.0
    along, r, angle = np.meshgrid(length * NODES / 2.0, radius * (NODES + 1.0) / 2.0, angles)
    points = np.stack([along, r * np.cos(angle), r * np.sin(angle)], axis=-1).reshape(-1, 3)
    each, outward, _ = np.meshgrid(WEIGHTS, WEIGHTS * (NODES + 1.0), angles)
    masses = (each * outward).reshape(-1)
    return np.roll(points, "xyz".index(axis), axis=1) + center, mass * masses / masses.sum()


def both(*parts):
    return (np.concatenate(arrays) for arrays in zip(*parts, strict=True))


def test_cuboid_is_its_integral():
    found = cuboid(0.4, Vec3(0.3, 0.2, 0.1)).matrix
    # 1e-6 is asked for; the rule is exact but for rounding
    np.testing.assert_allclose(found, inertia_of(*box(0.4, (0.3, 0.2, 0.1))), rtol=0, atol=1e-15)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_cylinder_is_its_integral(axis):
    found = cylinder(0.1, 0.02, 0.5, axis).matrix
    np.testing.assert_allclose(found, inertia_of(*rod(0.1, 0.02, 0.5, axis)), rtol=0, atol=1e-15)


def test_assembly_is_the_integral_over_its_parts():
    hull, arm, skid = (0.02, 0.01, 0.05), (0.1, -0.2, 0.03), (-0.05, 0.1, -0.15)
    found = combine_masses(
        MassElement(0.4, cuboid(0.4, Vec3(0.3, 0.2, 0.1)), Vec3(*hull)),
        MassElement(0.1, cylinder(0.1, 0.02, 0.5, "y"), Vec3(*arm)),
        MassElement(0.05, cylinder(0.05, 0.01, 0.3, "x"), Vec3(*skid)),
    )
    points, masses = both(
        box(0.4, (0.3, 0.2, 0.1), hull),
        rod(0.1, 0.02, 0.5, "y", arm),
        rod(0.05, 0.01, 0.3, "x", skid),
    )
    center = (masses[:, None] * points).sum(axis=0) / masses.sum()
    assert found.mass_kg == pytest.approx(0.55, rel=1e-14)
    np.testing.assert_allclose(found.center_body_m.array, center, rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        found.inertia_kgm2.matrix, inertia_of(points, masses), rtol=0, atol=1e-14
    )


def test_thin_crossed_rods_are_those_of_the_source():
    # equations 21 to 23 of Micklisch et al., in which the rods have no radius
    m_r, m_c, span, edges = 0.2, 0.4, 0.46, (0.14, 0.12, 0.08)
    found = crossed_quadrotor(m_c, Vec3(*edges), m_r, 1e-9, span).inertia_kgm2
    rods = np.array([m_r * span**2 / 24.0, m_r * span**2 / 24.0, m_r * span**2 / 12.0])
    length, width, height = edges
    sides = [width**2 + height**2, length**2 + height**2, width**2 + length**2]
    expected = rods + m_c * np.array(sides) / 12.0
    np.testing.assert_allclose([found.xx, found.yy, found.zz], expected, rtol=1e-14)
    assert found.is_diagonal


def test_quarter_turn_leaves_a_square_quadrotor_as_it_is():
    found = crossed_quadrotor(0.4, Vec3(0.12, 0.12, 0.08), 0.2, 0.01, 0.46).inertia_kgm2
    assert found.xx == pytest.approx(found.yy, rel=1e-15)
    assert found.zz > found.xx


def test_moving_the_whole_moves_nothing_within():
    parts = [
        MassElement(0.4, cuboid(0.4, Vec3(0.3, 0.2, 0.1)), Vec3(0.1, 0.0, 0.0)),
        MassElement(0.1, cylinder(0.1, 0.02, 0.5, "z"), Vec3(0.0, 0.2, 0.1)),
    ]
    shift = Vec3(3.0, -2.0, 1.0)
    moved = [MassElement(s.mass_kg, s.inertia_kgm2, s.center_body_m + shift) for s in parts]
    here, there = combine_masses(*parts), combine_masses(*moved)
    np.testing.assert_allclose(
        there.inertia_kgm2.matrix, here.inertia_kgm2.matrix, rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(
        there.center_body_m.array, (here.center_body_m + shift).array, rtol=1e-15
    )
