"""Smoothing: propensities of positions with few clicks, shrunk towards a power law of the position."""

import numpy as np

from boostplug.core.arrays import Floats


def shrunk_to_power_law(theta: Floats, variance: Floats) -> Floats:
    r"""Return propensities whose logarithms are shrunk towards a power law.

    Parameters
    ----------
    theta : ndarray of shape (n_positions,)
        Propensities, with 1 for position 1.
    variance : ndarray of shape (n_positions,)
        Variance of the logarithm of each propensity. Positions without a finite one, or with a propensity of 0 or NaN,
        take the value of the power law.

    Notes
    -----
    With :math:`y_p = \log θ_p`, :math:`x_p = -\log p` and the variances :math:`s_p^2`, over the k positions from 2
    that have both:

    1. The exponent is the weighted least-squares slope through the origin,
       :math:`η = \sum x_p y_p w_p / \sum x_p^2 w_p` with :math:`w_p = 1/s_p^2`.
    2. The variance around the curve is the moment estimate of DerSimonian & Laird, "Meta-analysis in clinical trials"
       (1986), for a regression: with :math:`Q = \sum (y_p - η x_p)^2 w_p`,
       :math:`τ^2 = \max(0, (Q - (k - 1)) / (\sum w_p - \sum x_p^2 w_p^2 / \sum x_p^2 w_p))`.
    3. η is fitted again with :math:`w_p = 1/(s_p^2 + τ^2)`.
    4. The deviation from the curve is shrunk: :math:`\log θ_p` becomes
       :math:`η x_p + (y_p - η x_p) τ^2/(τ^2 + s_p^2)`.
    """
    x = -np.log(np.arange(1.0, len(theta) + 1.0))
    known = (theta > 0) & (x < 0) & np.isfinite(variance)
    if not known.any():
        return theta
    at, y, s2 = x[known], np.log(theta[known]), np.maximum(variance[known], 1e-12)

    def slope(w: Floats) -> float:
        return float((at * y * w).sum() / (at**2 * w).sum())

    w = 1.0 / s2
    excess = ((y - slope(w) * at) ** 2 * w).sum() - (len(y) - 1)
    spare = w.sum() - (at**2 * w**2).sum() / (at**2 * w).sum()
    tau2 = max(0.0, excess / spare) if len(y) > 1 else 0.0
    eta = slope(1.0 / (s2 + tau2))
    smooth = eta * x
    smooth[known] += (y - eta * at) * tau2 / (tau2 + s2)
    smoothed: Floats = np.exp(smooth)
    return smoothed
