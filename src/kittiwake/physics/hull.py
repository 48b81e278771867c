"""Hydrodynamic derivatives and added mass of hulls."""

import math
from typing import Annotated

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.geometry.scalar import Real
from kittiwake.pytree import Module


class HullDerivatives(Module):
    """Hydrodynamic derivatives of one hull: Y_v, Y_r, N_v, N_r, X_u and X_u|u|."""

    y_v_kgps: Real
    y_r_kgmps: Real
    n_v_kgmps: Real
    n_r_kgm2ps: Real
    x_u_kgps: Real = 0.0
    x_uu_kgpm: Real = 0.0


def slender_body_derivatives(
    length_m: float, draft_m: float, density_kgpm3: float, speed_mps: float
) -> HullDerivatives:
    """Return the sway and yaw derivatives of a slender hull at a speed.

    With k = pi rho U T^2 / 2: ``Y_v = -k, Y_r = k L / 2, N_v = -k L / 2, N_r = -k L^2 / 4``: the
    leading terms of Clarke, Gedling, Hine (1983), "The application of maneuvering criteria in hull
    design using linear theory", which are those of slender-body theory (Newman 1977, "Marine
    Hydrodynamics", chapter 7). Valid for draft T and beam small against the length L.
    """
    k = 0.5 * math.pi * density_kgpm3 * speed_mps * draft_m**2
    return HullDerivatives(
        y_v_kgps=-k,
        y_r_kgmps=0.5 * k * length_m,
        n_v_kgmps=-0.5 * k * length_m,
        n_r_kgm2ps=-0.25 * k * length_m**2,
    )


class AddedMass(Module):
    """Added mass of all hulls together: -X_u', -Y_v', -Y_r' = -N_v', -N_r'."""

    surge_kg: Annotated[Real, NOT_NEGATIVE] = 0.0
    sway_kg: Annotated[Real, NOT_NEGATIVE] = 0.0
    sway_yaw_kgm: Real = 0.0
    yaw_kgm2: Annotated[Real, NOT_NEGATIVE] = 0.0
