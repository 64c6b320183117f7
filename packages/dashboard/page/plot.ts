/** uPlot, a script of its own: the page loads it when the charts of a queue are first shown. */

import uPlot from "uplot";

Object.assign(globalThis, { uPlot });
