import { useMemo } from 'react';
import { Plain } from '../../parts/plain.tsx';
import { Legend, Plot } from '../../parts/plot.tsx';
import {
  type Day,
  type DaySeries,
  daysRange,
  dayText,
  LINES,
  pointsOf,
  seriesOf,
} from './series.ts';

/** More charts would bury the table below them. */
const CHARTS_MAX = 6;

// Days are drawn at midnight UTC: ticks at the reader's own midnight would match no day and show no label.
const SHAPE = { lines: LINES, range: daysRange, timeText: dayText, timeZone: 'UTC' } as const;

/** Stakes, payouts and net, day by day; the table below says the same. */
export function DayCharts({ days }: { readonly days: readonly Day[] }) {
  const series = useMemo(() => seriesOf(days), [days]);
  const shown = series.slice(0, CHARTS_MAX);
  return (
    <>
      <div className="charts">
        {shown.map((one) => (
          <Chart key={`${one.operator} ${one.currency}`} series={one} />
        ))}
      </div>
      {series.length > CHARTS_MAX && (
        <p className="muted chart-note">
          The {CHARTS_MAX} with the most bets of {series.length}; choose an operator for its own.
        </p>
      )}
    </>
  );
}

function Chart({ series }: { readonly series: DaySeries }) {
  const data = useMemo(() => pointsOf(series), [series]);
  const last = series.days.at(-1);
  const items = LINES.map(({ name, colour, of }) => ({
    name,
    colour,
    value: last === undefined ? '–' : of(last),
  }));
  return (
    <figure>
      <figcaption>
        <span>
          <Plain text={series.operator} />, <Plain text={series.currency} />
        </span>
        <Legend items={items} />
      </figcaption>
      <Plot shape={SHAPE} data={data} />
    </figure>
  );
}
