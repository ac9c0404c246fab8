// Small plots on canvases: lines over time with one cursor for all of them, and the lanes of the timeline. Colours are the theme's.
"use strict";

import { plain } from "./text.js";

const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A canvas that is as sharp as the screen; null when it has no size yet. */
function begin(canvas) {
  const box = canvas.getBoundingClientRect();
  if (box.width < 2 || box.height < 2) return null;
  const ratio = globalThis.devicePixelRatio || 1;
  const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  return { pen, width: box.width, height: box.height };
}

/** Draws lines: `series` are arrays of [time, value], `span` the times shown, `cursor` a time or null. Gives what the cursor points at. */
export function lines(canvas, series, span, cursor) {
  const place = begin(canvas);
  if (place === null) return [];
  const { pen, width, height } = place;
  const top = 6, bottom = height - 4;
  const most = Math.max(1e-9, ...series.flat().map(([, value]) => value)) * 1.08;
  const x = (time) => ((time - span[0]) / (span[1] - span[0])) * width;
  const y = (value) => bottom - (value / most) * (bottom - top);
  pen.lineWidth = 1;
  pen.strokeStyle = theme("--line");
  for (const part of [0, 0.5, 1]) {
    const level = Math.round(top + (bottom - top) * part) + 0.5;
    pen.beginPath();
    pen.moveTo(0, level);
    pen.lineTo(width, level);
    pen.stroke();
  }
  const found = [];
  series.forEach((points, index) => {
    const colour = theme(index === 0 ? "--accent" : "--second");
    pen.beginPath();
    points.forEach(([time, value], at) => (at === 0 ? pen.moveTo(x(time), y(value)) : pen.lineTo(x(time), y(value))));
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    pen.stroke();
    if (index === 0 && points.length > 1) {
      pen.lineTo(x(points.at(-1)[0]), bottom);
      pen.lineTo(x(points[0][0]), bottom);
      pen.globalAlpha = 0.1;
      pen.fillStyle = colour;
      pen.fill();
      pen.globalAlpha = 1;
    }
    if (cursor === null || points.length === 0) return;
    const nearest = points.reduce((best, point) => (Math.abs(point[0] - cursor) < Math.abs(best[0] - cursor) ? point : best));
    found.push(nearest);
    pen.beginPath();
    pen.arc(x(nearest[0]), y(nearest[1]), 3, 0, 7);
    pen.fillStyle = colour;
    pen.fill();
  });
  if (cursor !== null) {
    pen.strokeStyle = theme("--quiet");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(Math.round(x(cursor)) + 0.5, 0);
    pen.lineTo(Math.round(x(cursor)) + 0.5, height);
    pen.stroke();
  }
  return found;
}

export const LANE = 22;
const NAMES = 96;

/** Draws calls as bars: a lane for each name, over a span of times. */
export function lanes(canvas, names, calls, span) {
  const place = begin(canvas);
  if (place === null) return;
  const { pen, width, height } = place;
  const x = (time) => NAMES + ((time - span[0]) / Math.max(1e-9, span[1] - span[0])) * (width - NAMES - 4);
  pen.font = `12px ${theme("--sans")}`;
  pen.textBaseline = "middle";
  names.forEach((name, lane) => {
    const middle = lane * LANE + LANE / 2;
    pen.fillStyle = theme("--quiet");
    pen.fillText(plain(name).slice(0, 13), 0, middle);
    pen.fillStyle = theme("--line");
    pen.fillRect(NAMES, Math.round(middle), width - NAMES, 1);
  });
  for (const call of calls) {
    const lane = names.indexOf(call.lane);
    if (lane < 0) continue;
    const from = x(call.from), to = Math.max(from + 2, x(call.to));
    pen.fillStyle = theme(call.bad ? "--bad" : call.by === "console" ? "--second" : call.changed ? "--warn" : "--accent");
    pen.globalAlpha = 0.85;
    pen.fillRect(from, lane * LANE + 5, to - from, LANE - 10);
  }
  pen.globalAlpha = 1;
  void height;
}
