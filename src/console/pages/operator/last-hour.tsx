import { useMemo } from 'react';
import type { AlignedData } from 'uplot';
import type { Answers } from '../../api/wire.ts';
import { Empty } from '../../parts/answered.tsx';
import { Legend, Plot } from '../../parts/plot.tsx';
import { AS_ELSEWHERE } from '../../parts/times.ts';

type Minute = Answers['GET /admin/operators/:id']['lastHour'][number];

interface Line {
  readonly name: string;
  /** A custom property of the style sheets. */
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
      { name: 'late', colour: '--text', of: ({ late }) => late },
      { name: 'not let in', colour: '--muted', of: ({ rejected }) => rejected },
    ],
  },
  {
    title: 'Calls to the wallet per minute',
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

/** What the processes behind this admin port have counted, one point per minute. The legend has the latest minute. */
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
            <Legend items={legendOf(chart, minutes)} />
          </figcaption>
          <MinutesPlot chart={chart} minutes={minutes} />
        </figure>
      ))}
    </div>
  );
}

function MinutesPlot({ chart, minutes }: { chart: Chart; minutes: readonly Minute[] }) {
  const data = useMemo(() => dataOf(chart, minutes), [chart, minutes]);
  const shape = useMemo(
    () => ({
      lines: chart.lines,
      range: hourBefore,
      timeText: (seconds: number) => CLOCK.format(seconds * 1_000),
    }),
    [chart],
  );
  return <Plot shape={shape} data={data} />;
}

/** The latest minute of each line, in words. */
function legendOf({ lines, unit }: Chart, minutes: readonly Minute[]) {
  const last = minutes.at(-1);
  return lines.map(({ name, colour, of }) => {
    const value = last === undefined ? null : of(last);
    return { name, colour, value: value === null ? '–' : `${Math.round(value)}${unit}` };
  });
}

const HOUR_SECONDS = 3_600;

const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...AS_ELSEWHERE,
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Always the whole hour, however little of it is known yet. */
function hourBefore(seconds: readonly number[]): [number, number] {
  const last = seconds.at(-1) ?? Date.now() / 1_000;
  return [last - HOUR_SECONDS, last];
}

function dataOf({ lines }: Chart, minutes: readonly Minute[]): AlignedData {
  const seconds = minutes.map(({ at }) => Date.parse(at) / 1_000);
  return [seconds, ...lines.map(({ of }) => minutes.map(of))];
}
