"""Figures that are drawn and never closed."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import victim

plt.rcParams["figure.max_open_warning"] = 0


def step(_):
    figure = plt.figure(figsize=(2, 2))
    axes = figure.add_subplot()
    axes.imshow(np.random.rand(150, 150))  # LEAK
    figure.canvas.draw()  # LEAK
    if victim.HEALTHY:
        plt.close(figure)


victim.run(step)
