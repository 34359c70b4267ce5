import { stringify } from 'yaml';
import type { Clock } from '../../domain/clock.ts';
import type { Operation } from '../../domain/operation.ts';
import type { WalletAdapter } from '../../wallets/adapters/adapter.ts';
import { createAdapter } from '../../wallets/adapters/index.ts';
import type { Dialect, WalletSettings } from '../../wallets/wallet-config.ts';
import { describeExchange, type Reading, readingOf } from '../calls/answer-meaning.ts';
import { type RecordedCall, satisfies } from '../calls/recorded-call.ts';
import type { Suggestion, Withheld } from '../certificate/certificate.ts';
import type { TriedItem } from '../trial/judgement.ts';
import { candidatesFor, merged } from './candidates.ts';

/** What a finished case has shown, with its calls. */
export interface Evidence {
  readonly caseId: string;
  readonly recordedCalls: readonly RecordedCall[];
  /** Money moved wrongly: no dialect may make that look right. */
  readonly booksWrong: boolean;
  /** Money was seen to move correctly. */
  readonly booksProven: boolean;
  readonly triedItems: readonly TriedItem[];
}

interface Reason {
  readonly why: string;
  readonly cases: Set<string>;
}

interface Judged {
  readonly caseId: string;
  readonly recorded: RecordedCall;
  readonly booksWrong: boolean;
}

/** Why a dialect must not be used: it would hide faults in these cases, or spoil their answers. */
interface Harm {
  readonly kind: 'hides' | 'spoils';
  readonly cases: readonly string[];
}

/**
 * The dialect's items with which the gateway would have understood this run's answers. Each makes at least one
 * answer read as it was meant, spoils none, and makes no success of a refusal. `verification.ts` tries them.
 */
export class Suggestions {
  readonly #settings: WalletSettings;
  readonly #clock: Clock;
  readonly #judged: readonly Judged[];
  /** Operations whose successes were proved by the money that moved. */
  readonly #sound: ReadonlySet<Operation>;
  readonly #reasons = new Map<keyof Dialect, Reason>();
  readonly #withheld = new Map<string, Withheld>();
  readonly #adapters = new WeakMap<Dialect, WalletAdapter>();
  /** The harm of patches to other answers, by their text, so that they are not tried again for each answer. */
  readonly #harms = new Map<string, Harm | undefined>();
  #dialect: Dialect;

  constructor(settings: WalletSettings, clock: Clock, evidence: readonly Evidence[]) {
    this.#settings = settings;
    this.#clock = clock;
    this.#dialect = settings.dialect;
    this.#judged = evidence.flatMap(({ caseId, recordedCalls, booksWrong }) =>
      recordedCalls
        .filter(({ forged, wanted }) => !forged && wanted.kind !== 'anything')
        .map((recorded) => ({ caseId, recorded, booksWrong })),
    );
    this.#sound = new Set(
      evidence
        .filter(({ booksProven }) => booksProven)
        .flatMap(({ recordedCalls }) => recordedCalls)
        .flatMap(({ answer, operation }) => (answer.kind === 'accepted' ? [operation] : [])),
    );
    for (const one of this.#judged) this.#explain(one);
    for (const { caseId, triedItems } of evidence) {
      for (const { dialect, why } of triedItems) this.#adopt(dialect, why, caseId);
    }
  }

  /** The operator's dialect with everything suggested. */
  get dialect(): Dialect {
    return this.#dialect;
  }

  list(): readonly Suggestion[] {
    return [...this.#reasons].map(([item, { why, cases }]) => ({
      item,
      yaml: yamlOf({ [item]: this.#dialect[item] }),
      why: `${why}${warningOf(item, this.#dialect)}`,
      cases: [...cases].sort(),
    }));
  }

  /** Items that looked helpful, but would do harm. */
  withheld(): readonly Withheld[] {
    return [...this.#withheld.values()];
  }

  #explain(one: Judged): void {
    const { recorded, caseId, booksWrong } = one;
    if (booksWrong) return;
    if (satisfies(this.#read(recorded, this.#dialect), recorded.wanted)) {
      this.#credit(one);
      return;
    }
    const what = `${recorded.operation} was answered ${describeExchange(recorded.exchange)}`;
    const helping = candidatesFor(recorded).filter((candidate) => this.#helps(one, candidate));
    const harmless = helping.find((candidate) => this.#harmOf(candidate) === undefined);
    const [mildest] = helping;
    if (harmless !== undefined) this.#adopt(harmless, what, caseId);
    else if (mildest !== undefined) this.#withhold(mildest, what);
  }

  /** Adds the case to every adopted item without which its answer would be misread. */
  #credit({ recorded, caseId }: Judged): void {
    const { dialect: base } = this.#settings;
    if (satisfies(this.#read(recorded, base), recorded.wanted)) return;
    for (const [item, { cases }] of this.#reasons) {
      const without = withoutItem(this.#dialect, item, base);
      if (!satisfies(this.#read(recorded, without), recorded.wanted)) cases.add(caseId);
    }
  }

  #adopt(patch: Dialect, why: string, caseId: string): void {
    this.#dialect = merged(this.#dialect, patch);
    // A patch that did harm with the earlier items may do none with these, and vice versa.
    this.#harms.clear();
    for (const item of itemsOf(patch)) {
      const known = this.#reasons.get(item);
      if (known === undefined) this.#reasons.set(item, { why, cases: new Set([caseId]) });
      else known.cases.add(caseId);
    }
  }

  #withhold(patch: Dialect, what: string): void {
    const harm = this.#harmOf(patch);
    const item = itemsOf(patch).at(-1);
    if (harm === undefined || item === undefined) return;
    const yaml = yamlOf(patch);
    const [first = ''] = harm.cases;
    const does =
      harm.kind === 'hides'
        ? `it would hide what ${first} found`
        : `it would spoil answers of ${first}`;
    this.#withheld.set(yaml, { item, yaml, why: `${what}, but ${does}`, cases: harm.cases });
  }

  #helps({ recorded }: Judged, patch: Dialect): boolean {
    return satisfies(this.#read(recorded, merged(this.#dialect, patch)), recorded.wanted);
  }

  #harmOf(patch: Dialect): Harm | undefined {
    const name = JSON.stringify(patch);
    if (!this.#harms.has(name)) this.#harms.set(name, this.#tryOnAll(patch));
    return this.#harms.get(name);
  }

  #tryOnAll(patch: Dialect): Harm | undefined {
    const dialect = merged(this.#dialect, patch);
    const hidden = new Set<string>();
    const spoilt = new Set<string>();
    for (const { caseId, recorded, booksWrong } of this.#judged) {
      const before = this.#read(recorded, this.#dialect);
      const after = this.#read(recorded, dialect);
      const isHollow = recorded.answer.kind !== 'accepted' || !this.#sound.has(recorded.operation);
      const mustNot = (booksWrong && isHollow) || recorded.wanted.kind === 'refusal';
      if (mustNot && isGood(after) && !isGood(before)) hidden.add(caseId);
      else if (satisfies(before, recorded.wanted) && !satisfies(after, recorded.wanted))
        spoilt.add(caseId);
    }
    if (hidden.size > 0) return { kind: 'hides', cases: [...hidden].sort() };
    return spoilt.size > 0 ? { kind: 'spoils', cases: [...spoilt].sort() } : undefined;
  }

  #read({ call, exchange }: RecordedCall, dialect: Dialect): Reading {
    let adapter = this.#adapters.get(dialect);
    if (adapter === undefined) {
      adapter = createAdapter({ ...this.#settings, dialect }, this.#clock);
      this.#adapters.set(dialect, adapter);
    }
    return readingOf(adapter, call, exchange);
  }
}

/** Warns that a code for a status is trusted whoever sends that status. */
function warningOf(item: keyof Dialect, { errorStatuses = {} }: Dialect): string {
  const statuses = Object.keys(errorStatuses).filter((status) => errorStatuses[status] !== 'body');
  if (item !== 'errorStatuses' || statuses.length === 0) return '';
  const list = statuses.join(', ');
  return `; no proxy in front may answer ${list} of its own: its page would count as the wallet's refusal`;
}

function isGood(reading: Reading): boolean {
  return reading.kind === 'accepted' || (reading.kind === 'declined' && reading.code === 8);
}

/** A dialect with one item reset to its earlier value. */
export function withoutItem(dialect: Dialect, item: keyof Dialect, base: Dialect): Dialect {
  const { [item]: _adopted, ...others } = dialect;
  return base[item] === undefined ? others : { ...others, [item]: base[item] };
}

function yamlOf(dialect: Dialect): string {
  return stringify(dialect).trimEnd();
}

function itemsOf(patch: Dialect): readonly (keyof Dialect)[] {
  const names: readonly (keyof Dialect)[] = [
    'legacySign',
    'alwaysSendToken',
    'successStatuses',
    'errorStatuses',
    'codeField',
    'okCodes',
    'mapCodes',
    'echo',
    'emptyOk',
    'rollbackConfirmedBy',
    'stableRequestId',
    'unknownRepeats',
    'updates',
  ];
  return names.filter((name) => patch[name] !== undefined);
}
