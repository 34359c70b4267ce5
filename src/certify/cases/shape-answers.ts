import { normaliseTransactionTime } from '../../protocol/answers.ts';
import { codesIn, documentOf, isBetOperation } from '../answer-meaning.ts';
import { type Case, group } from '../case.ts';
import type { Sighting } from '../recorded-call.ts';
import type { Trial } from '../trial.ts';

/*
 * These cases judge the form of all answers of the run, so that a form that is wrong now and then is
 * found as well, and once.
 */

const RULE = 'docs/protocol.md, Bet callback success response';
const REFUSAL = 'docs/protocol.md, Errors (HTTP 400: code, message)';

/** Further from this computer's clock than that, a time is worth a remark. */
const CLOCK_MINUTES_MAX = 5;

type Fault = (sighting: Sighting) => string | undefined;

/** Successes of bet calls, whatever they look like. */
function successes({ context }: Trial): readonly Sighting[] {
  return context.record.filter(
    ({ operation, meaning, forged }) =>
      isBetOperation(operation) && !forged && meaning.kind === 'accepted',
  );
}

/** Refusals that were in their place. */
function refusals({ context }: Trial): readonly Sighting[] {
  return context.record.filter(
    ({ wanted, meaning, forged }) =>
      wanted.kind === 'refusal' && !forged && meaning.kind === 'refused',
  );
}

/** Looks at many answers and tells of a fault once, with how many have it and of which calls. */
function examine(sightings: readonly Sighting[], fault: Fault): string | undefined {
  const faulty = sightings.flatMap((sighting) => {
    const what = fault(sighting);
    return what === undefined ? [] : [{ what, operation: sighting.operation }];
  });
  const [first] = faulty;
  if (first === undefined) return undefined;
  const operations = [...new Set(faulty.map(({ operation }) => operation))].join(', ');
  return `${first.what} (${faulty.length} of ${sightings.length} answers; ${operations})`;
}

/** Broken as the gateway reads it, dialect included. */
const unread = ({ reading }: Sighting) => reading.kind === 'broken';
const statusOf = ({ exchange }: Sighting) =>
  exchange.kind === 'response' ? exchange.status : undefined;
const bodyOf = ({ exchange }: Sighting) =>
  exchange.kind === 'response' ? documentOf(exchange) : undefined;

function verdictOn(sightings: (trial: Trial) => readonly Sighting[], fault: Fault) {
  return async (trial: Trial): Promise<void> => {
    const told = examine(sightings(trial), fault);
    if (told !== undefined) trial.fail(told);
  };
}

export const answerCases: readonly Case[] = group('shape', { rule: RULE, money: false }, [
  {
    id: 'shape-success-status',
    title: 'A success is HTTP 200',
    rule: 'docs/protocol.md, What the service does 4',
    expected: 'every success of the run has status 200',
    run: verdictOn(successes, (sighting) => {
      const status = statusOf(sighting);
      return unread(sighting) && status !== 200 ? `a success with HTTP ${status}` : undefined;
    }),
  },
  {
    id: 'shape-success-body',
    title: 'A success has a body',
    expected: 'every success of the run has a JSON object as body',
    run: verdictOn(successes, (sighting) =>
      unread(sighting) && bodyOf(sighting) === undefined ? 'a success without a body' : undefined,
    ),
  },
  {
    id: 'shape-success-code',
    title: 'A success has no error code',
    rule: 'docs/protocol.md, What the service does 4',
    expected: 'no success of the run has a code other than 0',
    run: verdictOn(successes, (sighting) => {
      const code = bodyOf(sighting)?.value.code;
      const isError = unread(sighting) && typeof code === 'number' && code !== 0;
      return isError ? `a success with code ${code}` : undefined;
    }),
  },
  {
    id: 'shape-transaction-id',
    title: "A success names the bet's transactionId",
    expected: 'every success of the run has the transactionId of its call',
    run: verdictOn(successes, (sighting) => {
      const body = bodyOf(sighting);
      const { call } = sighting;
      if (!unread(sighting) || body === undefined || call.kind !== 'bet') return undefined;
      if (body.value.transactionId === call.call.transactionId) return undefined;
      return body.has('transactionId') ? 'another transactionId' : 'no transactionId';
    }),
  },
  {
    id: 'shape-transaction-time',
    title: 'A success has its time in ISO 8601',
    expected: 'every success of the run has a transactionTime in ISO 8601, UTC',
    run: verdictOn(successes, (sighting) => {
      const body = bodyOf(sighting);
      if (body === undefined || isIsoTime(body.value.transactionTime)) return undefined;
      return 'no ISO 8601 transactionTime; the gateway puts its own in its place';
    }),
  },
  {
    id: 'shape-clock',
    title: "The wallet's clock is right",
    rule: 'docs/protocol.md, Bet callback success response (transactionTime: UTC)',
    expected: `the time of a new bet is within ${CLOCK_MINUTES_MAX} minutes of this computer's`,
    run: async (trial) => {
      const sighting = await trial.place(trial.slip());
      const time = bodyOf(sighting)?.value.transactionTime;
      if (!isIsoTime(time)) return;
      const epochMs = Date.parse(normaliseTransactionTime(time, 0));
      const minutes = Math.abs(epochMs - sighting.atMs) / 60_000;
      if (minutes <= CLOCK_MINUTES_MAX) return;
      trial.warn(`transactionTime is ${Math.round(minutes)} minutes off: is it UTC?`);
    },
  },
  {
    id: 'shape-refusal-status',
    title: 'A refusal is HTTP 400',
    rule: REFUSAL,
    expected: 'every refusal of the run has status 400',
    run: verdictOn(refusals, (sighting) => {
      const status = statusOf(sighting);
      return unread(sighting) && status !== 400 ? `a refusal with HTTP ${status}` : undefined;
    }),
  },
  {
    id: 'shape-refusal-code',
    title: 'A refusal has an integer code',
    rule: REFUSAL,
    expected: 'every refusal of the run has an integer in code',
    run: verdictOn(refusals, (sighting) => {
      const body = bodyOf(sighting);
      if (!unread(sighting) || Number.isSafeInteger(body?.value.code)) return undefined;
      const [other] = body === undefined ? [] : codesIn(body);
      return other === undefined ? 'no code' : `the code stands in ${other.name}`;
    }),
  },
  {
    id: 'shape-refusal-message',
    title: 'A refusal has a message',
    rule: REFUSAL,
    expected: 'every refusal of the run has a text in message',
    run: async (trial) => {
      const told = examine(refusals(trial), (sighting) =>
        typeof bodyOf(sighting)?.value.message === 'string' ? undefined : 'no message',
      );
      if (told !== undefined) trial.warn(`${told}; only the code counts`);
    },
  },
]);

/** The fallback comes back exactly where the value is none; one and the next cannot both be it. */
function isIsoTime(value: unknown): value is string {
  return normaliseTransactionTime(value, 0) === normaliseTransactionTime(value, 1);
}
