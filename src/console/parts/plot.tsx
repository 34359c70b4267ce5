import { useEffect, useRef } from 'react';
import uPlot, { type AlignedData, type Options } from 'uplot';
import { heightText } from './height-text.ts';
import 'uplot/dist/uPlot.min.css';

/** How a chart is drawn; the same object for as long as the chart is the same. */
export interface PlotShape {
  readonly lines: readonly {
    readonly name: string;
    /** A custom property of the style sheet. */
    readonly colour: string;
  }[];
  /** Of the first and last second that are shown, by what is known. */
  readonly range: (seconds: readonly number[]) => [number, number];
  readonly timeText: (seconds: number) => string;
  /** Where the marks of its days stand; the reader's own where it is left out. */
  readonly timeZone?: 'UTC';
}

interface PlotProps {
  readonly shape: PlotShape;
  /** Seconds since 1970, ascending, then the values of each line; null where there is none. */
  readonly data: AlignedData;
}

const HEIGHT_PX = 150;
/** Of the times below the lines. */
const TIMES_PX = 28;
/** Of the numbers beside the lines. */
const HEIGHTS_PX = 60;

/** Lines over time. For eyes alone: whoever uses it says the same in words or as a table. */
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

/** What a line is called and in which colour, with a word or number of each. */
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

/** A colour of the style sheet as the canvas takes it, light or dark as the page is now. */
function resolved(place: HTMLElement, name: string): string {
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = '';
  return color;
}
