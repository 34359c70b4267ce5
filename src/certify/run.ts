import { compareAmounts } from '../domain/amount.ts';
import type { WalletSettings } from '../wallets/wallet-config.ts';
import { ServiceCaller } from './calls/caller.ts';
import { WalletConnection } from './calls/wallet-connection.ts';
import type { Case } from './case.ts';
import type { Display } from './case-run.ts';
import type { RunEnding } from './certificate/certificate.ts';
import { composeCertificate, type RunFacts } from './certificate/compose-certificate.ts';
import {
  type CertificationOptions,
  type Certified,
  type Progress,
  Refused,
} from './certification.ts';
import { LEGACY_SIGN_FOUND } from './dialect/repeated-items.ts';
import { type DialectTrial, tryDialect } from './dialect/try-dialect.ts';
import { displayOf, signingSecret } from './display.ts';
import { neverBegun } from './not-begun.ts';
import { type Passed, type PassOptions, runPass } from './pass.ts';
import { casesOf } from './selection.ts';
import { BalanceLag } from './trial/balance-lag.ts';
import { amountIn } from './trial/money.ts';
import { type Examination, examine } from './trial/sandbox.ts';

/** Decimal text in units of any currency: the latency cases stake 50 at once. */
const BALANCE_MIN = '100';

/** Slower than this is slow, however long the gateway waits. */
const WARN_MS = 2000;
/** The delay of late repeats; the gateway's own come after minutes. */
const LATE_MS = 1500;

/**
 * Plays the service against an operator's wallet.
 * @returns the certificate, also of a stopped run: open stakes and payouts are given back first
 * @throws Refused before any money moves, when the wallet is no sandbox or the player does not fit
 */
export async function certify(options: CertificationOptions): Promise<Certified> {
  const run = new Run(options);
  try {
    return await run.toCertificate();
  } finally {
    await run.close();
  }
}

class Run {
  readonly #options: CertificationOptions;
  readonly #connection: WalletConnection;
  readonly #caller: ServiceCaller;
  readonly #lag = new BalanceLag();
  readonly #display: Display;
  readonly #startedAtMs: number;
  readonly #startedAt: string;

  constructor(options: CertificationOptions) {
    const { settings, clock, signal, player, limits } = options;
    this.#options = options;
    this.#connection = new WalletConnection({
      settings,
      clock,
      signal,
      // No longer than the gateway would wait: what comes after that is no answer to it.
      callMs: limits?.callMs ?? settings.timeoutMs,
    });
    this.#caller = new ServiceCaller(this.#connection, player);
    this.#display = displayOf(options);
    this.#startedAtMs = clock.monotonicMs();
    this.#startedAt = new Date(clock.nowMs()).toISOString();
  }

  async toCertificate(): Promise<Certified> {
    const examined = await this.#examined();
    if (examined.kind === 'unsure') {
      const result = neverBegun(examined.why, examined.calls, this.#display);
      return this.#certified(
        { results: [result], evidence: [], record: examined.calls },
        'not_begun',
      );
    }
    const first = await this.#run(
      this.#options.settings,
      this.#cases(),
      examined.needsLegacySign,
      true,
    );
    const ended = this.#ending();
    const verified =
      ended === 'finished'
        ? await tryDialect(this.#dialectTrial(), first, examined.needsLegacySign)
        : undefined;
    const last = await this.#caller.balance({}, { isCleanUp: true });
    // However late a run is stopped, its exit code says that it was stopped.
    const ending = this.#options.signal.aborted ? 'interrupted' : ended;
    return this.#certified(first, ending, { examined, verified, after: amountIn(last.answer) });
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** @throws Refused */
  async #examined(): Promise<Examination> {
    const { iKnow, settings } = this.#options;
    const legacy = { ...settings, dialect: { ...settings.dialect, legacySign: true } };
    const examined = await examine(this.#caller, () => this.#connection.adopt(legacy));
    if (examined.kind === 'unsure') {
      if (!examined.isOtherPlayer) return examined;
      throw new Refused(`${examined.why}: nothing else was tried`);
    }
    if (!examined.isTest && !iKnow) {
      throw new Refused(
        "the wallet is not marked as a sandbox: the player's profile must say isTest: true, not in " +
          'quotes. Take a test player, or give --i-know to bet with the money of this one',
      );
    }
    if (examined.needsLegacySign) this.#warn(LEGACY_SIGN_FOUND.triedItems[0]?.why ?? '');
    if (!examined.isTest) this.#warn('the wallet is not marked as a sandbox: real money may move');
    this.#checkMoney(examined);
    return examined;
  }

  #checkMoney({ balance, balanceAnswer }: Extract<Examination, { kind: 'ready' }>): void {
    if (!this.#cases().some(({ money }) => money)) return;
    const { currency, userId } = this.#options.player;
    if (balance === undefined) {
      throw new Refused(
        `the balance of ${userId} in ${currency} cannot be read (${balanceAnswer}): without it no ` +
          'movement of money can be judged; --only profile balance runs without',
      );
    }
    if (compareAmounts(balance, BALANCE_MIN) < 0) {
      throw new Refused(
        `${userId} has ${balance} ${currency}: give the test player at least ${BALANCE_MIN}`,
      );
    }
  }

  #cases(): readonly Case[] {
    return casesOf(this.#options.only);
  }

  #run(
    settings: WalletSettings,
    cases: readonly Case[],
    needsLegacySign = false,
    tell = false,
  ): Promise<Passed> {
    const { currencies, other, limits, clock, signal } = this.#options;
    const failMs = limits?.failMs ?? settings.timeoutMs;
    const warnMs = limits?.warnMs ?? Math.min(WARN_MS, failMs / 2);
    let at = 0;
    const options: PassOptions = {
      caller: this.#caller,
      other,
      currencies,
      secret: signingSecret(settings),
      latency: { warnMs, failMs },
      lateMs: limits?.lateMs ?? LATE_MS,
      lag: this.#lag,
      clock,
      display: this.#display,
      signal,
      onCase: (one) => {
        at += 1;
        if (tell) this.#tell({ kind: 'begun', one, at, of: cases.length });
      },
      onResult: (result) => {
        if (tell) this.#tell({ kind: 'ended', result });
      },
    };
    return runPass(options, cases, settings, needsLegacySign);
  }

  #dialectTrial(): DialectTrial {
    return {
      settings: this.#options.settings,
      clock: this.#options.clock,
      signal: this.#options.signal,
      connection: this.#connection,
      cases: this.#cases(),
      startedAtMs: this.#startedAtMs,
      play: (dialect, cases) => {
        this.#tell({ kind: 'verifying', dialect });
        return this.#run({ ...this.#options.settings, dialect }, cases);
      },
    };
  }

  #ending(): RunEnding {
    if (this.#options.signal.aborted) return 'interrupted';
    return this.#connection.isSilent ? 'silent' : 'finished';
  }

  #certified(
    first: Passed,
    ending: RunEnding,
    { examined, verified, after }: Pick<Partial<RunFacts>, 'examined' | 'verified' | 'after'> = {},
  ): Certified {
    const certificate = composeCertificate({
      options: this.#options,
      first,
      ending,
      examined,
      verified,
      after,
      startedAt: this.#startedAt,
      durationMs: Math.round(this.#options.clock.monotonicMs() - this.#startedAtMs),
      callCount: this.#connection.callCount,
    });
    return { certificate, calls: first.record, display: this.#display };
  }

  #tell(event: Progress): void {
    this.#options.onProgress?.(event);
  }

  #warn(text: string): void {
    this.#tell({ kind: 'warning', text });
  }
}
