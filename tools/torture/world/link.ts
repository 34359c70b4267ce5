import type { Socket } from 'node:net';
import type { CommitFault, ConnectionFault } from '../plan/plan.ts';
import {
  isCommit,
  isSeries,
  leavesTransactionOpen,
  partedAtCommit,
  refusal,
  refusedAtCommit,
  refusedCommit,
  uncommitted,
} from './commit-messages.ts';

/** One connection through a proxy, and the faults that it suffers. */
export class Link {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #up: Lane;
  readonly #down: Lane;
  /** Called when the answer that is to be lost has come. */
  #losesAnswer: (() => void) | undefined;
  /** Waits for the next commit that passes. */
  #atCommit:
    | { readonly fault: CommitFault; readonly ms: number; readonly came: () => void }
    | undefined;
  #isInTransaction = false;
  delayMs = 0;

  constructor(near: Socket, far: Socket, look: (chunk: Buffer) => void) {
    this.#near = near;
    this.#far = far;
    near.setNoDelay(true);
    far.setNoDelay(true);
    this.#up = new Lane(far);
    this.#down = new Lane(near);
    near.on('data', (chunk: Buffer) => {
      look(chunk);
      this.#passUp(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      this.#isInTransaction = leavesTransactionOpen(chunk);
      if (this.#losesAnswer !== undefined) {
        this.#losesAnswer();
        return this.break();
      }
      this.#down.pass(chunk, this.delayMs);
    });
    near.on('end', () => this.#up.end());
    far.on('end', () => this.#down.end());
    near.on('error', () => this.break());
    far.on('error', () => this.break());
    near.on('close', () => this.#up.end());
    far.on('close', () => this.#down.end());
  }

  hold(): void {
    this.#up.hold();
    this.#down.hold();
  }

  release(): void {
    this.#losesAnswer = undefined;
    this.#atCommit = undefined;
    this.#up.release();
    this.#down.release();
  }

  break(): void {
    this.#up.drop();
    this.#near.resetAndDestroy();
    this.#far.resetAndDestroy();
  }

  /**
   * Applies a fault to the message that is passing.
   * @param came called when the fault has hit something
   */
  suffer(fault: ConnectionFault, ms: number, came: () => void = () => undefined): void {
    switch (fault) {
      case 'holdRequest':
        came();
        this.#up.hold();
        setTimeout(() => this.#up.release(), ms);
        return;
      case 'holdAnswer':
        came();
        this.#down.hold();
        setTimeout(() => this.#down.release(), ms);
        return;
      case 'loseRequest':
        came();
        this.break();
        return;
      case 'loseAnswer':
        this.#losesAnswer = came;
        return;
      default:
        this.#atCommit = { fault, ms, came };
        return;
    }
  }

  #passUp(chunk: Buffer): void {
    const due = this.#atCommit;
    const isWhole = this.#isInTransaction ? isCommit(chunk) : isSeries(chunk);
    if (due === undefined || !isWhole) {
      this.#up.pass(chunk, this.delayMs);
      return;
    }
    this.#atCommit = undefined;
    this.#breakCommit(due, chunk);
  }

  #breakCommit(
    { fault, ms, came }: { fault: CommitFault; ms: number; came: () => void },
    chunk: Buffer,
  ): void {
    const isInWords = this.#isInTransaction;
    if (fault === 'loseBeforeCommit' && !isInWords) {
      // The server reports that it has executed it; then the connection breaks.
      this.#losesAnswer = came;
      this.#up.pass(uncommitted(chunk), 0);
      return;
    }
    came();
    switch (fault) {
      case 'holdCommit': {
        const [done, commit] = isInWords ? [Buffer.alloc(0), chunk] : partedAtCommit(chunk);
        this.#up.pass(done, 0);
        setTimeout(() => this.#up.pass(commit, 0), ms);
        return;
      }
      case 'conflict':
      case 'deadlock': {
        const refused = refusal(fault === 'conflict' ? '40001' : '40P01');
        this.#up.pass(isInWords ? refusedCommit() : refused, 0);
        return;
      }
      case 'conflictAtCommit':
        this.#up.pass(isInWords ? refusedCommit() : refusedAtCommit(chunk), 0);
        return;
      case 'loseBeforeCommit':
        this.break();
        return;
      case 'loseAtCommit':
        this.#up.pass(chunk, 0);
        this.#up.end();
        this.#near.resetAndDestroy();
        return;
    }
  }
}

/** One direction: held data is passed on in order, even if its sender has gone meanwhile. */
class Lane {
  readonly #to: Socket;
  readonly #waiting: (Buffer | 'end')[] = [];
  #isHeld = false;
  #isDropped = false;

  constructor(to: Socket) {
    this.#to = to;
  }

  pass(chunk: Buffer, delayMs: number): void {
    if (delayMs > 0) setTimeout(() => this.#push(chunk), delayMs);
    else this.#push(chunk);
  }

  end(): void {
    this.#push('end');
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const each of this.#waiting.splice(0)) this.#write(each);
  }

  drop(): void {
    this.#isDropped = true;
  }

  #push(each: Buffer | 'end'): void {
    if (this.#isHeld) this.#waiting.push(each);
    else this.#write(each);
  }

  #write(each: Buffer | 'end'): void {
    if (this.#isDropped || this.#to.destroyed) return;
    if (each === 'end') this.#to.end();
    else if (!this.#to.writableEnded) this.#to.write(each);
  }
}
