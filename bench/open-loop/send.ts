import { readFileSync } from 'node:fs';
import { ascending, hundredths, percentile } from '../support/figures.ts';
import {
  type OpenJob,
  type OpenResult,
  type PhaseResult,
  SERVICE_WAITS_MS,
  SLICE_MS,
  type Slice,
} from './job.ts';
import { type Call, Sender } from './sender.ts';

/**
 * Sends callbacks at a constant rate, each when it is due, like a service whose players do not wait for each other.
 * Argument: the file of an `OpenJob`; prints an `OpenResult`.
 *
 * Our own code, because the available tools send on a connection only after the previous answer.
 */
const job: OpenJob = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const sender = new Sender(job);
const startedAtMs = await sender.run();
console.log(JSON.stringify(resultOf(sender.calls)));

function resultOf(calls: readonly Call[]): OpenResult {
  const ends = job.phases.map((_, n) => sum(job.phases.slice(0, n + 1).map((one) => one.seconds)));
  const phases = ends.map((end, n) => {
    const fromMs = startedAtMs + 1000 * (ends[n - 1] ?? 0);
    return phaseOf(within(calls, fromMs, startedAtMs + 1000 * end), calls, fromMs, end * 1000);
  });
  return {
    phases,
    good: calls.flatMap(({ answer }, n) => (answer === '200' ? [n] : [])),
    cut: calls.filter(({ answer }) => answer === 'broken' || answer === 'silent').length,
    connections: sender.connections,
  };
}

function phaseOf(
  own: readonly Call[],
  all: readonly Call[],
  fromMs: number,
  endMs: number,
): PhaseResult {
  const toMs = startedAtMs + endMs;
  const good = own.filter(isGood);
  const waited = ascending(good.map(waitedMs));
  const sinceSent = good.map(({ sentAtMs, answeredAtMs }) => answeredAtMs - sentAtMs);
  const refused = own.filter(({ answer }) => /^[345]/.test(answer));
  const came = all.filter(
    (call) => isGood(call) && call.answeredAtMs >= fromMs && call.answeredAtMs < toMs,
  );
  return {
    sent: own.length,
    startedAtMs: fromMs,
    answers: Object.fromEntries(
      [...Map.groupBy(own, ({ answer }) => answer)].map(([answer, some]) => [answer, some.length]),
    ),
    goodPerSecond: Math.round((1000 * came.length) / (toMs - fromMs)),
    p50Ms: hundredths(percentile(waited, 0.5)),
    p99Ms: hundredths(percentile(waited, 0.99)),
    maxMs: hundredths(waited.at(-1) ?? 0),
    refusedP99Ms: hundredths(
      percentile(ascending(refused.map((call) => call.answeredAtMs - call.sentAtMs)), 0.99),
    ),
    late: sinceSent.filter((ms) => ms > SERVICE_WAITS_MS).length,
    sentMaxMs: hundredths(ascending(sinceSent).at(-1) ?? 0),
    slices: slicesOf(own, fromMs, toMs),
  };
}

function slicesOf(own: readonly Call[], fromMs: number, toMs: number): Slice[] {
  const byNumber = Map.groupBy(own, ({ dueAtMs }) => Math.floor((dueAtMs - fromMs) / SLICE_MS));
  const count = Math.floor((toMs - fromMs) / SLICE_MS);
  return Array.from({ length: count }, (_, n) => {
    const calls = byNumber.get(n) ?? [];
    const waited = ascending(calls.filter(isGood).map(waitedMs));
    const [p50Ms, p99Ms] = [percentile(waited, 0.5), percentile(waited, 0.99)].map(hundredths);
    return { sent: calls.length, good: waited.length, p50Ms: p50Ms ?? 0, p99Ms: p99Ms ?? 0 };
  });
}

function within(calls: readonly Call[], fromMs: number, toMs: number): readonly Call[] {
  return calls.filter(({ dueAtMs }) => dueAtMs >= fromMs && dueAtMs < toMs);
}

function isGood({ answer }: Call): boolean {
  return answer === '200';
}

function waitedMs({ dueAtMs, answeredAtMs }: Call): number {
  return answeredAtMs - dueAtMs;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
