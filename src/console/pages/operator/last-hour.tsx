import { useEffect, useRef } from 'react';
import uPlot, { type AlignedData, type Options } from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Answers } from '../../api/wire.ts';
import { Empty } from '../../parts/answered.tsx';

type Minute = Answers['GET /admin/operators/:id']['lastHour'][number];

interface Line {
  readonly name: string;
  /** A custom property of the style sheet. */
  readonly colour: string;
  readonly of: (minute: Minute) => number | null;
}

interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

const CHARTS: readonly Chart[] = [
  {
    title: 'Callbacks a minute',
    unit: '',
    lines: [
      { name: 'all', colour: '--accent', of: ({ callbacks }) => callbacks },
      { name: 'declined', colour: '--warn', of: ({ declined }) => declined },
      { name: 'unknown', colour: '--bad', of: ({ unknown }) => unknown },
      { name: 'not let in', colour: '--muted', of: ({ rejected }) => rejected },
    ],
  },
  {
    title: 'Calls to the wallet a minute',
    unit: '',
    lines: [
      { name: 'all', colour: '--accent', of: ({ walletCalls }) => walletCalls },
      { name: 'failed', colour: '--bad', of: ({ walletFailures }) => walletFailures },
    ],
  },
  {
    title: "The wallet's mean answer",
    unit: ' ms',
    lines: [{ name: 'mean', colour: '--accent', of: ({ walletMeanMs }) => walletMeanMs }],
  },
];

/** What the process itself has counted, a point a minute; the same as a table for who cannot see. */
export function LastHourCharts({ minutes }: { readonly minutes: readonly Minute[] }) {
  if (minutes.length === 0) {
    return <Empty title="Nothing counted yet">The first minute is not over.</Empty>;
  }
  return (
    <div className="charts">
      {CHARTS.map((chart) => (
        <figure key={chart.title}>
          <figcaption>
            {chart.title}
            <Totals chart={chart} minutes={minutes} />
          </figcaption>
          <Plot chart={chart} minutes={minutes} />
        </figure>
      ))}
    </div>
  );
}

/** In words what the lines draw: the latest minute of each. */
function Totals({
  chart,
  minutes,
}: {
  readonly chart: Chart;
  readonly minutes: readonly Minute[];
}) {
  const last = minutes.at(-1);
  return (
    <span className="legend">
      {chart.lines.map(({ name, colour, of }) => {
        const value = last === undefined ? null : of(last);
        return (
          <span key={name}>
            <i style={{ background: `var(${colour})` }} aria-hidden="true" />
            {name} {value === null ? '–' : `${Math.round(value)}${chart.unit}`}
          </span>
        );
      })}
    </span>
  );
}

const HEIGHT_PX = 150;
const HOUR_SECONDS = 3_600;

function Plot({ chart, minutes }: { readonly chart: Chart; readonly minutes: readonly Minute[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const made = new uPlot(optionsOf(chart, current), [[]], current);
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
  }, [chart]);
  useEffect(() => plot.current?.setData(dataOf(chart, minutes)), [chart, minutes]);
  return <div ref={place} className="plot" aria-hidden="true" />;
}

function dataOf({ lines }: Chart, minutes: readonly Minute[]): AlignedData {
  const seconds = minutes.map(({ at }) => Date.parse(at) / 1_000);
  return [seconds, ...lines.map(({ of }) => minutes.map(of))];
}

function optionsOf({ lines }: Chart, place: HTMLElement): Options {
  const colour = (name: string) => getComputedStyle(place).getPropertyValue(name).trim();
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
    scales: {
      // The whole hour, however little of it is known yet.
      x: { range: ({ data: [seconds] }) => hourBefore(seconds.at(-1)) },
      y: { range: (_plot, _low, high) => [0, Math.max(high, 1) * 1.1] },
    },
    axes: [
      { ...axis, values: (_plot, seconds) => seconds.map(clockText) },
      { ...axis, size: 44 },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.name,
        stroke: () => resolved(place, line.colour) || colour(line.colour),
        width: 2,
        points: { show: true, size: 4 },
      })),
    ],
  };
}

function hourBefore(last = Date.now() / 1_000): [number, number] {
  return [last - HOUR_SECONDS, last];
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

function clockText(seconds: number): string {
  return CLOCK.format(seconds * 1_000);
}

/** A colour of the style sheet as the canvas takes it, light or dark as the page is now. */
function resolved(place: HTMLElement, name: string): string {
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = '';
  return color;
}
