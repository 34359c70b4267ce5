import { canonicalAmount, compareAmounts, subtractAmounts } from '../domain/amount.ts';
import type { Clock } from '../domain/clock.ts';
import type { Dialect, WalletSettings } from '../wallets/wallet-config.ts';
import { Caller, type CertifiedPlayer } from './caller.ts';
import type { Case } from './case.ts';
import { runCase } from './case-run.ts';
import { CASES } from './cases/index.ts';
import {
  type CaseResult,
  CERTIFICATE_SCHEMA,
  type Certificate,
  countsOf,
  GROUPS,
  type Group,
} from './certificate.ts';
import type { Finding } from './judgement.ts';
import { amountIn } from './money.ts';
import type { Sighting } from './recorded-call.ts';
import { Redaction } from './redact.ts';
import { type Examination, examine } from './sandbox.ts';
import { type Evidence, Suggestions } from './suggestions.ts';
import { type LatencyLimits, Trial } from './trial.ts';
import { WalletLine } from './wallet-connection.ts';

/** Decimal text, in units of whatever the currency is: the latency cases stake 50 at once. */
const BALANCE_MIN = '100';

/** A wallet that has left so many calls without an answer is not asked further. */
const SILENT_CALLS_MAX = 12;

export interface CertificationOptions {
  readonly operator: string;
  readonly currencies: readonly string[];
  /** Where and how the wallet is spoken to, the dialect included. */
  readonly settings: WalletSettings;
  /** The operator's dialect was left out on purpose. */
  readonly strict: boolean;
  readonly player: CertifiedPlayer;
  readonly other: { readonly userId: string; readonly token: string } | undefined;
  readonly groups: readonly Group[];
  /** Goes on although the wallet does not call the player a test player. */
  readonly iKnow: boolean;
  readonly wagergate: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Default: the protocol's 5 s, and a warning above 2 s. */
  readonly limits?: Partial<LatencyLimits> & { readonly callMs?: number };
  readonly onProgress?: (event: Progress) => void;
}

export type Progress =
  | { readonly kind: 'begun'; readonly one: Case; readonly at: number; readonly of: number }
  | { readonly kind: 'warning'; readonly text: string };

/** Nothing was certified, and no money moved. The message says what to do. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/**
 * Plays the service against an operator's wallet.
 *
 * @returns the certificate, also of a wallet that failed
 * @throws Refused before any money moves, when the wallet is no sandbox or cannot be examined
 * @throws the signal's reason when the run is stopped; what was on the table is given back first
 */
export async function certify(options: CertificationOptions): Promise<Certificate> {
  const run = new Run(options);
  try {
    return await run.toCertificate();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #options: CertificationOptions;
  readonly #settings: WalletSettings;
  /** As the wallet is spoken to: the settings, and what the run has learnt. */
  #spoken: WalletSettings;
  readonly #line: WalletLine;
  readonly #caller: Caller;
  readonly #redaction: Redaction;
  readonly #record: Sighting[] = [];
  readonly #evidence: Evidence[] = [];

  constructor(options: CertificationOptions) {
    const { settings, clock, signal, player, other, limits } = options;
    this.#options = options;
    this.#settings = settings;
    this.#spoken = settings;
    this.#line = new WalletLine({ settings, clock, signal, callMs: limits?.callMs ?? 5000 });
    this.#caller = new Caller(this.#line, player);
    this.#redaction = new Redaction([player.token, other?.token ?? '', ...settings.secrets]);
  }

  async toCertificate(): Promise<Certificate> {
    const { clock, groups, settings, player } = this.#options;
    const startedAt = new Date(clock.nowMs()).toISOString();
    const startedAtMs = clock.monotonicMs();
    const examined = await this.#examined();
    const cases = await this.#runAll();
    this.#noteRequestIds();
    const after = amountIn((await this.#caller.balance()).meaning);
    const suggestions = new Suggestions(this.#settings, clock, this.#evidence).list();
    const counts = countsOf(cases);
    const before = examined.balance;
    return {
      schemaVersion: CERTIFICATE_SCHEMA,
      // What was not tried cannot have passed.
      result: counts.failed === 0 && !this.#isSilent() ? 'passed' : 'failed',
      complete: GROUPS.every((name) => groups.includes(name)) && !this.#isSilent(),
      operator: this.#options.operator,
      wallet: withoutCredentials(settings.baseUrl),
      adapter: settings.adapter,
      dialect: withoutHeaders(settings.dialect),
      strict: this.#options.strict,
      player: { userId: player.userId, currency: player.currency },
      sandbox: { isTest: examined.isTest, overridden: !examined.isTest },
      startedAt,
      durationMs: Math.round(clock.monotonicMs() - startedAtMs),
      wagergate: this.#options.wagergate,
      node: process.versions.node,
      groups,
      calls: this.#record.length,
      counts,
      money: {
        before: before === undefined ? null : canonicalAmount(before),
        after: after === undefined ? null : canonicalAmount(after),
        difference:
          before === undefined || after === undefined ? null : subtractAmounts(after, before),
      },
      cases,
      suggestions,
    };
  }

  async close(): Promise<void> {
    await this.#line.close();
  }

  /** @throws Refused */
  async #examined(): Promise<Extract<Examination, { kind: 'ready' }>> {
    const { iKnow } = this.#options;
    const legacy = { ...this.#settings, dialect: { ...this.#settings.dialect, legacySign: true } };
    const examined = await examine(this.#caller, () => this.#speak(legacy));
    if (examined.kind === 'unsure') {
      throw new Refused(`${this.#redaction.text(examined.why)}: nothing else was tried`);
    }
    if (!examined.needsLegacySign) this.#speak(this.#settings);
    else this.#noteLegacySign();
    if (!examined.isTest && !iKnow) {
      throw new Refused(
        "the wallet is not marked as a sandbox: the player's profile must say isTest: true. Take a " +
          'test player, or give --i-know to bet with the money of this one',
      );
    }
    if (!examined.isTest) this.#warn('the wallet is not marked as a sandbox: real money may move');
    this.#checkMoney(examined);
    return examined;
  }

  #checkMoney({ balance, balanceAnswer }: Extract<Examination, { kind: 'ready' }>): void {
    const isNeeded = this.#cases().some(({ money }) => money);
    if (!isNeeded) return;
    const { currency, userId } = this.#options.player;
    if (balance === undefined) {
      throw new Refused(
        `the balance of ${userId} cannot be read (${balanceAnswer}): without it no movement of ` +
          'money can be judged; --only profile balance runs without',
      );
    }
    if (compareAmounts(balance, BALANCE_MIN) < 0) {
      throw new Refused(
        `${userId} has ${balance} ${currency}: give the test player at least ${BALANCE_MIN}`,
      );
    }
  }

  /** Goes on with `x-sign`, so that the rest of the wallet is seen too. */
  #noteLegacySign(): void {
    const why = 'nothing was accepted until the header x-sign was sent as well';
    this.#warn(why);
    const finding: Finding = { dialect: { legacySign: true }, why };
    this.#evidence.push({
      caseId: LEGACY_SIGN_CASE,
      sightings: [],
      booksWrong: false,
      findings: [finding],
    });
  }

  /** Goes on with a token on every call, so that the rest of the wallet is seen too. */
  #sendTokens(): void {
    const { dialect } = this.#spoken;
    this.#speak({ ...this.#spoken, dialect: { ...dialect, alwaysSendToken: true } });
  }

  #speak(settings: WalletSettings): void {
    this.#spoken = settings;
    this.#line.adopt(settings);
  }

  /** `stableRequestId`: paid again under a new requestId, but not under the first one. */
  #noteRequestIds(): void {
    const isWrong = (id: string) => this.#evidence.find(({ caseId }) => caseId === id)?.booksWrong;
    if (isWrong(REPEATED_ANEW) !== true || isWrong(REPEATED_SAME) !== false) return;
    const why =
      'a settle repeated under a new requestId paid again, under the first one it did not';
    const findings = [{ dialect: { stableRequestId: true }, why }];
    this.#evidence.push({ caseId: REPEATED_ANEW, sightings: [], booksWrong: true, findings });
  }

  #cases(): readonly Case[] {
    const { groups } = this.#options;
    return CASES.filter((one) => groups.includes(one.group));
  }

  async #runAll(): Promise<readonly CaseResult[]> {
    const cases = this.#cases();
    const results: CaseResult[] = [];
    for (const [at, one] of cases.entries()) {
      this.#options.onProgress?.({ kind: 'begun', one, at: at + 1, of: cases.length });
      results.push(await this.#runOne(one));
    }
    return results;
  }

  async #runOne(one: Case): Promise<CaseResult> {
    const { currencies, other, settings, limits, clock } = this.#options;
    const trial = new Trial({
      caller: this.#caller,
      other,
      currencies,
      secret: settings.secrets[0] ?? '',
      latency: { warnMs: limits?.warnMs ?? 2000, failMs: limits?.failMs ?? 5000 },
      record: this.#record,
    });
    if (one.id === LEGACY_SIGN_CASE && this.#needsLegacySign()) {
      trial.fail('nothing is accepted unless the header x-sign is sent as well');
    }
    const skipped = this.#isSilent() ? SILENT : undefined;
    const result = await runCase(one, trial, { clock, redaction: this.#redaction, skipped });
    const { sightings, booksWrong, findings } = trial;
    this.#evidence.push({ caseId: one.id, sightings, booksWrong, findings });
    if (findings.some(({ dialect }) => dialect.alwaysSendToken === true)) this.#sendTokens();
    return result;
  }

  #needsLegacySign(): boolean {
    const [first] = this.#evidence;
    return first?.findings.some(({ dialect }) => dialect.legacySign === true) === true;
  }

  #isSilent(): boolean {
    const silent = this.#record.filter(({ exchange }) => exchange.kind !== 'response');
    return silent.length >= SILENT_CALLS_MAX;
  }

  #warn(text: string): void {
    this.#options.onProgress?.({ kind: 'warning', text });
  }
}

const REPEATED_ANEW = 'settle-repeat';
const REPEATED_SAME = 'settle-repeat-same-request';
const LEGACY_SIGN_CASE = 'signature-good';
const SILENT = `${SILENT_CALLS_MAX} calls were left without an answer: not asked further`;

function withoutCredentials(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/$/, '');
}

/** Further headers may hold keys. */
function withoutHeaders({ headers, ...dialect }: Dialect): Dialect {
  const names = Object.keys(headers ?? {});
  if (names.length === 0) return dialect;
  return { ...dialect, headers: Object.fromEntries(names.map((name) => [name, '***'])) };
}
