import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';
import type { BetCall, Wallet } from '../../../src/wallets/call.ts';
import { Gates } from './gates.ts';

/** What a wallet holds of the run's bet. */
export interface Holding {
  readonly isHeld: boolean;
  readonly result: string | undefined;
  readonly coefficient: string | undefined;
}

/** Besides `ok`: executed without an answer, not executed, executed after everything else; its caller is killed. */
const FAULTS = ['lost', 'missed', 'late', 'kill'] as const;
/** The wallet refuses what it cannot book. */
const REFUSED = 5;

/**
 * One operator's wallet for one bet. It keeps the protocol: a repeat changes nothing, a rollback reverses
 * everything. It does not remember rollbacks of unknown bets, so that only the gateway's fence keeps out a later
 * place.
 */
export class ScriptedWallet implements Wallet {
  readonly operatorId: string;
  readonly callerDialect: Wallet['callerDialect'];
  /** How the next call ends outside of an order. */
  next: 'lost' | 'missed' | undefined;
  /** What must never reach a wallet. */
  readonly wrong: string[] = [];
  #isHeld: boolean;
  #result: string | undefined;
  #coefficient: string | undefined;
  readonly #late: BetCall[] = [];
  #places = 0;
  #isRolledBack = false;
  #accepted = 0;
  #results = 0;
  /** The generation whose books have the bet; undefined until a wallet is asked about it. */
  #home: number | undefined;
  #release: { readonly to: number; endedAt: number } | undefined;
  #isReleased = false;
  #inside: { readonly actor: string | undefined; readonly operation: string } | undefined;

  /** @param paysRepeats each result that it gets is paid, whatever was paid before (`unknownRepeats: hold`) */
  constructor(operatorId: string, isHeld: boolean, paysRepeats = false) {
    this.operatorId = operatorId;
    this.#isHeld = isHeld;
    this.#home = isHeld ? undefined : 1;
    this.callerDialect = {
      ...{ alwaysSendToken: false, stableRequestId: false },
      ...{ holdUnknownRepeats: paysRepeats, skipUpdates: false },
    };
  }

  get holding(): Holding {
    return { isHeld: this.#isHeld, result: this.#result, coefficient: this.#coefficient };
  }

  /** As a process sees it whose configuration has that generation. */
  of(generation: () => number): Wallet {
    const { operatorId, callerDialect } = this;
    return {
      ...{ operatorId, callerDialect },
      refusal: () => this.refusal(),
      breakerState: () => this.breakerState(),
      inFlight: () => this.inFlight(),
      read: () => this.read(),
      close: () => this.close(),
      bet: (call) => {
        this.#lookWhose(call.operation, generation());
        return this.bet(call);
      },
    };
  }

  /** A person begins to release the bet to a wallet; the books are moved there. */
  beginRelease(to: number): void {
    this.#release = { to, endedAt: Infinity };
    this.#isReleased = false;
  }

  endRelease(): void {
    this.#isReleased = true;
    if (this.#release !== undefined) this.#release.endedAt = Gates.steps?.taken ?? -1;
  }

  /** The generation to which a person has released the bet. */
  get releasedTo(): number | undefined {
    return this.#isReleased ? this.#release?.to : undefined;
  }

  /** No wallet is asked about a bet in another one's books; after a release only what was begun before it. */
  #lookWhose(operation: string, generation: number): void {
    if (operation === 'place') this.#home = generation;
    this.#home ??= generation;
    const to = this.#release?.to ?? this.#home;
    const endedAt = this.#release?.endedAt ?? Infinity;
    if (
      generation === to ||
      (generation === this.#home && (Gates.steps?.looked ?? Infinity) <= endedAt)
    )
      return;
    this.wrong.push(`${operation} went to wallet ${generation}, the bet is in the books of ${to}`);
  }

  async bet(call: BetCall): Promise<BetAnswer> {
    const { operation } = call;
    const { actor } = Gates;
    const answer = await Gates.pass(
      { kind: 'wallet', label: `calls ${operation}`, faults: FAULTS },
      (choice) => this.#arrive(call, actor, choice),
    );
    await Gates.pass({ kind: 'wallet', label: `${operation} ends`, faults: ['kill'] }, async () => {
      this.#inside = undefined;
      await Promise.resolve();
    });
    return answer;
  }

  /** A person looks at what it holds. */
  async look(): Promise<Holding> {
    const step = { kind: 'wallet', label: 'is looked at', faults: [] } as const;
    return await Gates.pass(step, () => Promise.resolve(this.holding));
  }

  /** A person books what never came, unless something newer has come. */
  async bookByHand(what: { readonly result: string } | 'rollback'): Promise<void> {
    const step = { kind: 'wallet', label: 'is booked by hand', faults: [] } as const;
    await Gates.pass(step, async () => {
      await Promise.resolve();
      if (what === 'rollback') this.#isHeld = false;
      else if (this.#isHeld && this.#results === 0) this.#result = what.result;
    });
  }

  /** Executes the calls that were put off. */
  landLate(): void {
    for (const call of this.#late.splice(0)) this.#book(call);
  }

  /** The caller is gone, and with it its connection. */
  callerIsGone(actor: string): void {
    if (this.#inside?.actor === actor) this.#inside = undefined;
  }

  refusal(): undefined {
    return undefined;
  }

  breakerState() {
    return 'closed' as const;
  }

  inFlight(): number {
    return 0;
  }

  read(): Promise<never> {
    return Promise.reject(new Error('only bets are played'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #arrive(call: BetCall, actor: string | undefined, choice: string): Promise<BetAnswer> {
    await Promise.resolve();
    const { operation } = call;
    if (call.maySend?.() === false) {
      const trace = { sent: false, latencyMs: 1 };
      return { kind: 'notSent', reason: 'deadline', trace };
    }
    this.#look(operation, actor);
    const how = this.next ?? choice;
    this.next = undefined;
    if (how === 'late') this.#late.push(call);
    const code = this.#codeOf(call, how);
    const evidence = { contentType: 'text/plain', body: Buffer.from('no'), truncated: false };
    const trace = { sent: true, latencyMs: 1, evidence };
    if (how !== 'ok') return { kind: 'unknown', fault: 'timeout', trace };
    if (code !== undefined) return { kind: 'declined', code, message: 'refused', trace };
    this.#accepted += 1;
    const transactionTime = new Date(1_700_000_000_000 + this.#accepted * 1_000).toISOString();
    return { kind: 'accepted', transactionTime, trace };
  }

  /** Books it, unless it is to come late, or never. */
  #codeOf(call: BetCall, how: string): number | undefined {
    return how === 'late' || how === 'missed' ? undefined : this.#book(call);
  }

  /** At most one operation of a bet at a time, its place only once, and nothing after its rollback (I5, I6). */
  #look(operation: string, actor: string | undefined): void {
    if (operation === 'rollback') this.#isRolledBack = true;
    else if (this.#isRolledBack) this.wrong.push(`${operation} was sent after the rollback`);
    if (operation === 'place') this.#places += 1;
    if (operation === 'place' && this.#places > 1) this.wrong.push('the place was sent twice');
    if (this.#inside !== undefined) {
      this.wrong.push(`${operation} was sent while ${this.#inside.operation} was on its way`);
    }
    this.#inside = { actor, operation };
  }

  /** @returns the code of a refusal */
  #book(call: BetCall): number | undefined {
    const fields: { amount?: number; coefficient?: number } = JSON.parse(call.body);
    switch (call.operation) {
      case 'place':
        this.#isHeld = true;
        return undefined;
      case 'rollback':
        this.#isHeld = false;
        this.#result = undefined;
        return undefined;
      case 'update':
        this.#coefficient = String(fields.coefficient);
        return undefined;
      case 'settle':
      case 'unsettle':
        if (!this.#isHeld) return REFUSED;
        this.#results += 1;
        if (this.callerDialect.holdUnknownRepeats) this.#lookForRepeat(call);
        this.#result = call.operation === 'settle' ? String(fields.amount) : undefined;
        return undefined;
    }
  }

  #lookForRepeat({ operation, body }: BetCall): void {
    const { amount }: { amount?: number } = JSON.parse(body);
    if (operation === 'settle' && this.#result === String(amount)) {
      this.wrong.push(`${amount} was paid twice`);
    }
  }
}
