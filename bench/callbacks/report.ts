import { table } from '../../src/lib/table.ts';
import { hundredths, median, tenths } from '../support/figures.ts';
import type { BenchmarkResult, Target } from '../support/result.ts';
import type { LoadClient, LoadOperation, LoadResult } from './load-job.ts';
import type { CallbacksSettings } from './settings.ts';

export interface Measured extends LoadResult {
  /** Processor time of the measured side, if the system reports it. */
  readonly cpuMs: number | undefined;
  /** That of PostgreSQL, with all its processes. */
  readonly postgresCpuMs: number | undefined;
}

export interface Round {
  readonly gateway: Measured;
  readonly proxy: Measured;
}

/** The result of one side over all of its rounds. */
interface Summary {
  readonly answered: number;
  readonly not200: number;
  readonly requestsPerSecond: number;
  /** Medians over the rounds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUsPerRequest: number | undefined;
  readonly postgresUsPerRequest: number | undefined;
}

export function roundLine({ gateway, proxy }: Round): string {
  const ratio = (perSecond(gateway) / perSecond(proxy)).toFixed(2);
  return [oneLine('gateway', gateway), oneLine('proxy', proxy), `ratio ${ratio}`].join('; ');
}

export function oneLine(name: string, measured: Measured): string {
  const { p50Ms, p99Ms, requestsPerSecond, not200 } = summaryOf([measured]);
  const strange = not200 === 0 ? '' : `, ${JSON.stringify(measured.statuses)}`;
  return `${name} ${requestsPerSecond}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms${strange}`;
}

/** All sides over all rounds, one table per operation, and their ratios. */
export function comparison(
  settings: CallbacksSettings,
  measured: ReadonlyMap<LoadOperation, readonly Round[]>,
): string {
  return [...measured]
    .map(([operation, rounds]) => tableOf(settings.connections, operation, rounds))
    .join('\n\n');
}

function tableOf(connections: number, operation: LoadOperation, rounds: readonly Round[]): string {
  const gateway = summaryOf(rounds.map((round) => round.gateway));
  const proxy = summaryOf(rounds.map((round) => round.proxy));
  const columns = [
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU us',
    'PostgreSQL us',
    'answered',
    'not 200',
  ];
  const row = (name: string, side: Summary) => [
    name,
    String(side.requestsPerSecond),
    String(side.p50Ms),
    String(side.p99Ms),
    String(side.cpuUsPerRequest ?? '-'),
    String(side.postgresUsPerRequest ?? '-'),
    String(side.answered),
    String(side.not200),
  ];
  return [
    `${operation}, ${connections} connections, ${rounds.length} rounds each in turn`,
    '',
    table(
      [
        { title: '', align: 'left' },
        ...columns.map((title) => ({ title, align: 'right' }) as const),
      ],
      [row('gateway', gateway), row('@fastify/http-proxy', proxy)],
    ),
    '',
    `ratio gateway/proxy: ${ratioOf(gateway, proxy)} (rounds: ${ratios(rounds).join(', ')})`,
  ].join('\n');
}

/** How it was measured, in addition to the settings. */
type How = CallbacksSettings & { readonly client: LoadClient; readonly isPinned: boolean };

/** The result, with the conditions of the measurement. */
export function resultOf(
  { connections, roundSeconds, rounds, warmUpBets, client, isPinned }: How,
  measured: ReadonlyMap<LoadOperation, readonly Round[]>,
  mistakes: readonly string[],
): BenchmarkResult {
  return {
    benchmark: 'callbacks',
    settings: { connections, rounds, roundSeconds, warmUpBets, client, isPinned },
    targets: [...measured].flatMap(([operation, all]) => targetsOf(operation, all)),
    figures: Object.fromEntries([...measured].map(([operation, all]) => [operation, figures(all)])),
    mistakes,
  };
}

/** The targets of the operation, compared with the proxy of the same run. */
function targetsOf(operation: LoadOperation, rounds: readonly Round[]): readonly Target[] {
  const { gateway, proxy, ratio } = figures(rounds);
  const limits = LIMITS[operation];
  const served = { what: `${operation}, of what the proxy serves`, value: ratio };
  const of = (us: number | undefined, what: string, atMost: number) =>
    us === undefined || proxy.cpuUsPerRequest === undefined
      ? []
      : [{ what: `${operation}, ${what}`, value: hundredths(us / proxy.cpuUsPerRequest), atMost }];
  return [
    { ...served, atLeast: limits.served },
    ...of(gateway.cpuUsPerRequest, "processor time, times the proxy's", limits.cpu),
    ...of(gateway.postgresUsPerRequest, "PostgreSQL's time, times the proxy's", limits.postgres),
  ];
}

/** Of what the proxy serves, at least; times the proxy's processor time, at most. */
const LIMITS: Readonly<Record<LoadOperation, { served: number; cpu: number; postgres: number }>> = {
  place: { served: 0.6, cpu: 1.6, postgres: 0.8 },
  balance: { served: 1, cpu: 1, postgres: 0.1 },
};

function figures(rounds: readonly Round[]) {
  const gateway = summaryOf(rounds.map((round) => round.gateway));
  const proxy = summaryOf(rounds.map((round) => round.proxy));
  return {
    gateway,
    proxy,
    ratio: ratioOf(gateway, proxy),
    roundRatios: ratios(rounds),
  };
}

function summaryOf(all: readonly Measured[]): Summary {
  const answered = sum(all.map((one) => one.answered));
  const elapsedMs = sum(all.map((one) => one.elapsedMs));
  const usPerRequest = (of: (one: Measured) => number | undefined) => {
    const known = all.map(of).flatMap((ms) => ms ?? []);
    return known.length === all.length ? Math.round((1000 * sum(known)) / answered) : undefined;
  };
  return {
    answered,
    not200: answered - sum(all.map((one) => one.statuses['200'] ?? 0)),
    requestsPerSecond: Math.round((1000 * answered) / elapsedMs),
    p50Ms: tenths(median(all.map((one) => one.p50Ms))),
    p99Ms: tenths(median(all.map((one) => one.p99Ms))),
    cpuUsPerRequest: usPerRequest(({ cpuMs }) => cpuMs),
    postgresUsPerRequest: usPerRequest(({ postgresCpuMs }) => postgresCpuMs),
  };
}

function perSecond({ answered, elapsedMs }: Measured): number {
  return (1000 * answered) / elapsedMs;
}

function ratios(rounds: readonly Round[]): number[] {
  return rounds.map(({ gateway, proxy }) => hundredths(perSecond(gateway) / perSecond(proxy)));
}

function ratioOf(gateway: Summary, proxy: Summary): number {
  return hundredths(gateway.requestsPerSecond / proxy.requestsPerSecond);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
