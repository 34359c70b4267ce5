import { classOf } from '../../domain/operation.ts';
import { IDLE_MS } from '../../outbound/http-client.ts';
import { secretSpellings, withCodings } from '../../outbound/secret-mask.ts';
import { normaliseTransactionTime } from '../../protocol/answers.ts';
import { jsonObjectIn } from '../../protocol/json.ts';
import { codesIn, describeExchange } from '../calls/answer-meaning.ts';
import { rightSignatures } from '../calls/forged-requests.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, type CaseText, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

/* These cases judge the form of all answers of the run, and report each fault once. */

/** A time that differs by more than this from this computer's clock gets a remark. */
const CLOCK_MINUTES_MAX = 5;

/** A wallet has at most a few forms of refusals. */
const FAULTS_SHOWN_MAX = 5;

type Fault = (recorded: RecordedCall) => string | undefined;

/** Successes of bet calls, whatever their form. */
function successes({ context }: Trial): readonly RecordedCall[] {
  return context.record.filter(
    ({ operation, answer, forged }) =>
      classOf(operation) === 'money' && !forged && answer.kind === 'accepted',
  );
}

/** Refusals where a refusal was right. */
function refusals({ context }: Trial): readonly RecordedCall[] {
  return context.record.filter(
    ({ wanted, answer, forged }) =>
      wanted.kind === 'refusal' && !forged && answer.kind === 'refused',
  );
}

/** Checks many answers and reports a fault once, with the calls that have it. */
function examine(
  trial: Trial,
  recordedCalls: readonly RecordedCall[],
  fault: Fault,
): string | undefined {
  const faulty = recordedCalls.flatMap((recorded) => {
    const what = fault(recorded);
    return what === undefined ? [] : [{ what, recorded, operation: recorded.operation }];
  });
  const [first] = faulty;
  if (first === undefined) return undefined;
  trial.exhibit(first.recorded);
  const operations = [...new Set(faulty.map(({ operation }) => operation))].join(', ');
  const faults = [...new Set(faulty.map(({ what }) => what))].slice(0, FAULTS_SHOWN_MAX);
  return `${faults.join(', ')} (${faulty.length} of ${recordedCalls.length} answers; ${operations})`;
}

/** Broken as the gateway reads it, dialect included. */
const unread = ({ reading }: RecordedCall) => reading.kind === 'broken';
const statusOf = ({ exchange }: RecordedCall) =>
  exchange.kind === 'response' ? exchange.status : undefined;
const bodyOf = ({ exchange }: RecordedCall) =>
  exchange.kind === 'response' ? jsonObjectIn(exchange.body) : undefined;
/** A body came that is no JSON object: it may well have what is looked for, in Latin-1 or cut off. */
const isGarbled = (recorded: RecordedCall) =>
  bodyOf(recorded) === undefined &&
  recorded.exchange.kind === 'response' &&
  recorded.exchange.body.length > 0;

function verdictOn(recordedCalls: (trial: Trial) => readonly RecordedCall[], fault: Fault) {
  return async (trial: Trial): Promise<void> => {
    const found = examine(trial, recordedCalls(trial), fault);
    if (found !== undefined) trial.fail(found);
  };
}

const usual = { rule: RULES.success, money: false, meaning: 'costs_money' } as const;

const CASES_ON_ANSWERS: readonly CaseText[] = [
  {
    id: 'shape-success-status',
    title: 'A success is HTTP 200',
    expected: 'every success of the run has status 200',
    advice: 'Answer successes with HTTP 200.',
    run: verdictOn(successes, (recorded) => {
      const status = statusOf(recorded);
      return unread(recorded) && status !== 200 ? `a success with HTTP ${status}` : undefined;
    }),
  },
  {
    id: 'shape-success-body',
    title: 'A success has a body',
    expected: 'every success of the run has a JSON object as body',
    advice: 'Answer successes with {"transactionId", "transactionTime"}.',
    run: verdictOn(successes, (recorded) =>
      unread(recorded) && bodyOf(recorded) === undefined ? 'a success without a body' : undefined,
    ),
  },
  {
    id: 'shape-success-code',
    title: 'A success has no error code',
    expected: 'no success of the run has a code other than 0',
    advice: 'Leave the code out of successes, or make it 0.',
    run: verdictOn(successes, (recorded) => {
      const code = bodyOf(recorded)?.value.code;
      const isError = unread(recorded) && typeof code === 'number' && code !== 0;
      return isError ? `a success with code ${code}` : undefined;
    }),
  },
  {
    id: 'shape-transaction-id',
    title: "A success names the bet's transactionId",
    expected: 'every success of the run has the transactionId of its call',
    advice: 'Echo the transactionId of the request, unchanged.',
    run: verdictOn(successes, (recorded) => {
      const body = bodyOf(recorded);
      const { call } = recorded;
      if (!unread(recorded) || body === undefined || call.kind !== 'bet') return undefined;
      const { transactionId } = call.call;
      // A member that a case left out cannot be echoed: that case judges whether it may be left out.
      if (!call.call.body.includes(transactionId)) return undefined;
      if (body.value.transactionId === transactionId) return undefined;
      return body.has('transactionId') ? 'another transactionId' : 'no transactionId';
    }),
  },
  {
    id: 'shape-transaction-time',
    title: 'A success has its time in ISO 8601',
    expected: 'every success of the run has a transactionTime in ISO 8601, UTC',
    meaning: 'absorbed',
    advice: 'Write transactionTime as 2026-11-21T12:00:00.000Z.',
    run: verdictOn(successes, (recorded) => {
      const body = bodyOf(recorded);
      if (body === undefined || isIsoTime(body.value.transactionTime)) return undefined;
      return 'no ISO 8601 transactionTime; the gateway puts its own in its place';
    }),
  },
  {
    id: 'shape-clock',
    title: "The wallet's clock is right",
    expected: `the time of a new bet is within ${CLOCK_MINUTES_MAX} minutes of this computer's`,
    meaning: 'cosmetic',
    advice: 'Answer UTC, and keep the clock by NTP.',
    run: async (trial) => {
      const recorded = await trial.place(trial.slip());
      const time = bodyOf(recorded)?.value.transactionTime;
      if (!isIsoTime(time)) return;
      const epochMs = Date.parse(normaliseTransactionTime(time, 0));
      const minutes = Math.abs(epochMs - recorded.atMs) / 60_000;
      if (minutes <= CLOCK_MINUTES_MAX) return;
      trial.warn(`transactionTime is ${Math.round(minutes)} minutes off: is it UTC?`, 'cosmetic');
    },
  },
  {
    id: 'shape-refusal-status',
    title: 'A refusal is HTTP 400',
    expected: 'every refusal of the run has status 400',
    rule: RULES.refusal,
    advice: 'Answer refusals with HTTP 400.',
    run: verdictOn(refusals, (recorded) => {
      const status = statusOf(recorded);
      return unread(recorded) && status !== 400 ? `a refusal with HTTP ${status}` : undefined;
    }),
  },
  {
    id: 'shape-refusal-code',
    title: 'A refusal has an integer code',
    expected: 'every refusal of the run has an integer in code',
    rule: RULES.refusal,
    advice:
      'Put the code into the member code, as an integer, of a JSON object in UTF-8 that is sent whole (Content-Length ' +
      'counts bytes, not characters) and alone: a handler that goes on after it has refused writes a second object, and may debit.',
    run: verdictOn(refusals, (recorded) => {
      const body = bodyOf(recorded);
      if (!unread(recorded) || Number.isSafeInteger(body?.value.code)) return undefined;
      if (isGarbled(recorded))
        return `no code that can be read: ${describeExchange(recorded.exchange)}`;
      const [other] = body === undefined ? [] : codesIn(body);
      return other === undefined ? 'no code' : `the code stands in ${other.name}`;
    }),
  },
  {
    id: 'shape-refusal-message',
    title: 'A refusal has a message',
    expected: 'every refusal of the run has a text in message',
    rule: RULES.refusal,
    meaning: 'cosmetic',
    advice: 'Add a message: people read it in logs.',
    run: async (trial) => {
      const found = examine(trial, refusals(trial), (recorded) =>
        isGarbled(recorded) || typeof bodyOf(recorded)?.value.message === 'string'
          ? undefined
          : 'no message',
      );
      if (found !== undefined) trial.warn(`${found}; only the code counts`, 'cosmetic');
    },
  },
  {
    id: 'shape-answered-once',
    title: 'A request is answered once',
    expected: 'nothing follows an answer on its connection until the next request',
    rule: RULES.once,
    advice:
      'Send one answer a request, also after a refusal, and nothing on an idle connection: end the request where it ' +
      'is refused, and look at filters and proxies that answer by themselves.',
    run: async (trial) => {
      const { caller, record } = trial.context;
      const { answeredTwice } = caller.connection;
      if (answeredTwice === undefined) return;
      const last = record.find(({ call }) => call.call.requestId === answeredTwice.requestId);
      if (last !== undefined) trial.exhibit(last);
      trial.fail(
        `more came after the answer to a ${last?.operation ?? 'call'}: the gateway may take it for the ` +
          'answer to the next bet on that connection, and decline a bet that the wallet has debited',
      );
    },
  },
  {
    id: 'shape-idle-connections',
    title: 'An idle connection is kept for more than 4 s',
    expected:
      'no connection is closed within 4 s of its last answer, unless that said so (Connection: close, Keep-Alive)',
    rule: RULES.idle,
    meaning: 'absorbed',
    // It depends on which connections a run leaves idle, and for how long.
    byChance: true,
    advice:
      'Keep idle connections for more than 4 s (gunicorn: --keep-alive 5), or say when you close them. Where a process ' +
      'serves one connection at a time, close each after its answer and say so (Starman: --disable-keepalive). A place ' +
      'that is sent while you close has an unknown outcome, and is rolled back.',
    run: async (trial) => {
      const early = trial.context.caller.connection.idleMsOfClosed.filter((ms) => ms < IDLE_MS);
      // A single one may be a process that was replaced.
      if (early.length < 2) return;
      const shortest = (Math.min(...early) / 1000).toFixed(1);
      trial.warn(
        `${early.length} connections were closed when idle, the soonest after ${shortest} s`,
      );
    },
  },
  {
    id: 'shape-no-secrets',
    title: 'No answer tells what lets somebody in',
    expected:
      'no answer of the run holds the wallet secret, or the signature that a request lacked',
    rule: RULES.signature,
    meaning: 'lets_somebody_in',
    advice:
      'Answer refusals with code and message alone: no stack trace, no settings, and not the ' +
      'signature that was expected. Then change the secret.',
    run: async (trial) => {
      const { record, secret } = trial.context;
      const found = examine(trial, record, (recorded) => leakIn(recorded, secret));
      if (found !== undefined) trial.fail(found);
    },
  },
];

/** What an answer reveals. A correctly signed request has already revealed its own signature. */
function leakIn({ request, exchange, forged }: RecordedCall, secret: string): string | undefined {
  if (exchange.kind !== 'response') return undefined;
  const text = exchange.body.toString('utf8');
  if (
    withCodings(secret)
      .flatMap(secretSpellings)
      .some((one) => text.includes(one))
  ) {
    return 'the answer holds the wallet secret';
  }
  const sent = request.headers['x-sign-jws'] ?? '';
  const isRevealed = (one: string) => text.includes(one) && !sent.includes(one);
  return forged && rightSignatures(request, secret).some(isRevealed)
    ? 'the refusal of a wrong signature tells the right one'
    : undefined;
}

export const answerCases: readonly Case[] = group(
  'shape',
  usual,
  CASES_ON_ANSWERS.map((one) => ({ ...one, judgesAnswers: true })),
);

/** The fallback is returned only if the value is no time; a value cannot equal both fallbacks. */
function isIsoTime(value: unknown): value is string {
  return normaliseTransactionTime(value, 0) === normaliseTransactionTime(value, 1);
}
