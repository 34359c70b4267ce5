import { useEffect, useRef } from 'react';
import uPlot, { type AlignedData, type Options } from 'uplot';
import { heightText } from './height-text.ts';
import 'uplot/dist/uPlot.min.css';

/** How a chart is drawn. Must be the same object for as long as the chart is the same. */
export interface PlotShape {
  readonly lines: readonly {
    readonly name: string;
    /** A custom property of the style sheets. */
    readonly colour: string;
  }[];
  /** The first and last second to show, given the known ones. */
  readonly range: (seconds: readonly number[]) => [number, number];
  readonly timeText: (seconds: number) => string;
  /** The time zone of the day ticks; by default the reader's. */
  readonly timeZone?: 'UTC';
}

interface PlotProps {
  readonly shape: PlotShape;
  /** Seconds since 1970, ascending, then the values of each line; null for a missing value. */
  readonly data: AlignedData;
}

const HEIGHT_PX = 150;
/** Room for the time labels below the lines. */
const TIMES_PX = 28;
/** Room for the value labels beside the lines. */
const HEIGHTS_PX = 60;

/** Lines over time. For sighted people only: the caller must show the same as words or a table. */
export function Plot({ shape, data }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const made = new uPlot(optionsOf(shape, current), [[]], current);
    plot.current = made;
    const watch = new ResizeObserver(() =>
      made.setSize({ width: current.clientWidth, height: HEIGHT_PX }),
    );
    watch.observe(current);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div ref={place} className="plot" aria-hidden="true" />;
}

/** The name and colour of each line, with its value in words. */
export function Legend({
  items,
}: {
  readonly items: readonly { name: string; colour: string; value: string }[];
}) {
  return (
    <span className="legend">
      {items.map(({ name, colour, value }) => (
        <span key={name}>
          <i style={{ background: `var(${colour})` }} aria-hidden="true" />
          {name} {value}
        </span>
      ))}
    </span>
  );
}

function optionsOf({ lines, range, timeText, timeZone }: PlotShape, place: HTMLElement): Options {
  const axis = {
    stroke: () => resolved(place, '--muted'),
    grid: { stroke: () => resolved(place, '--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(place.clientWidth, 100),
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    ...(timeZone !== undefined && {
      tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), timeZone),
    }),
    scales: {
      x: { range: ({ data: [seconds] }) => range([...seconds]) },
      y: { range: (_plot, low, high) => [Math.min(low, 0) * 1.1, Math.max(high, 1) * 1.1] },
    },
    axes: [
      { ...axis, size: TIMES_PX, values: (_plot, seconds) => seconds.map(timeText) },
      { ...axis, size: HEIGHTS_PX, values: (_plot, heights) => heights.map(heightText) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour }) => ({
        label: name,
        stroke: () => resolved(place, colour),
        width: 2,
        points: { show: true, size: 4 },
      })),
    ],
  };
}

/** The computed value of a style sheet's colour, for the canvas; it follows the page's light or dark theme. */
function resolved(place: HTMLElement, name: string): string {
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = '';
  return color;
}
