import type { Socket } from 'node:net';
import type { ConnectionFault } from '../plan/plan.ts';

/** One connection through a proxy, and the faults that it suffers. */
export class Link {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #up: Lane;
  readonly #down: Lane;
  /** Called when the answer that is to be lost has come. */
  #losesAnswer: (() => void) | undefined;
  /** Takes the place of the next statement that passes. */
  #refusal: { readonly sqlState: '40001' | '40P01'; readonly came: () => void } | undefined;

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
      if (this.#losesAnswer !== undefined) {
        this.#losesAnswer();
        return this.break();
      }
      this.#down.pass(chunk);
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
    this.#refusal = undefined;
    this.#up.release();
    this.#down.release();
  }

  break(): void {
    this.#up.drop();
    this.#near.resetAndDestroy();
    this.#far.resetAndDestroy();
  }

  /** Applies a fault to the message that is passing. @param came called when it has hit something */
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
      case 'conflict':
        this.#refusal = { sqlState: '40001', came };
        return;
      case 'deadlock':
        this.#refusal = { sqlState: '40P01', came };
        return;
    }
  }

  #passUp(chunk: Buffer): void {
    const due = this.#refusal;
    if (due === undefined || !isSeries(chunk)) {
      this.#up.pass(chunk);
      return;
    }
    this.#refusal = undefined;
    due.came();
    this.#up.pass(refusal(due.sqlState));
  }
}

const HEAD_BYTES = 5;
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

/** Whether these are whole messages that end with a `Sync`, which another statement can replace. */
function isSeries(chunk: Buffer): boolean {
  let at = 0;
  let lastAt = 0;
  while (at + HEAD_BYTES <= chunk.length) {
    lastAt = at;
    at += 1 + Math.max(HEAD_BYTES - 1, chunk.readUInt32BE(at + 1));
  }
  return at === chunk.length && chunk.subarray(lastAt).equals(SYNC);
}

/** A statement that the server refuses just as if it had met another transaction. */
function refusal(sqlState: '40001' | '40P01'): Buffer {
  const raise = `DO $$ BEGIN RAISE EXCEPTION 'as planned' USING ERRCODE = '${sqlState}'; END $$`;
  const body = Buffer.from(`${raise}\0`);
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('Q');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
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

  pass(chunk: Buffer): void {
    this.#push(chunk);
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
