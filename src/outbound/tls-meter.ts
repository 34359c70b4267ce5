import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { EndlessAnswerError } from './answer-meter.ts';

/**
 * Around the bytes of an answer there may come four times as many, and so many more since the last
 * request: tickets, a handshake for which the other end wants a certificate after all. An answer in
 * records of 25 bytes takes no more.
 */
const BESIDE_BYTES_MAX = 32 * 1024;
const BESIDE_PER_BYTE_MAX = 4;

const LOOK_EVERY_MS = 250;

interface Watched {
  /** The connection as the wire has it. */
  readonly wire: Socket;
  /** What stands above: no bytes but those of requests and answers. */
  readonly secure: TLSSocket;
  /** Where counting began, at the last request that had been seen. */
  wireBytes: number;
  answerBytes: number;
  written: number;
}

/**
 * Breaks connections off on which TLS itself does not come to an end. Tickets, new keys and new
 * handshakes are taken in by OpenSSL, so nobody above sees a byte of them; without end they would keep
 * this process at them for one operator, and all others waiting (I7): one connection full of tickets
 * took 83 % of a processor.
 */
export class TlsMeter {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  /** @param secure whose handshake is over; stands on `wire` */
  watch(wire: Socket, secure: TLSSocket): void {
    const watched = { wire, secure, wireBytes: 0, answerBytes: 0, written: 0 };
    begin(watched);
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    secure.once('close', () => {
      this.#watched.delete(watched);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    for (const watched of this.#watched) {
      const { wire, secure, written } = watched;
      const answer = secure.bytesRead - watched.answerBytes;
      const beside = wire.bytesRead - watched.wireBytes - answer;
      if (beside > BESIDE_BYTES_MAX + BESIDE_PER_BYTE_MAX * answer) {
        const words = `${beside} bytes of TLS came around ${answer} of an answer`;
        secure.destroy(new EndlessAnswerError(words));
      } else if (secure.bytesWritten !== written) begin(watched);
    }
  }
}

function begin(watched: Watched): void {
  watched.wireBytes = watched.wire.bytesRead;
  watched.answerBytes = watched.secure.bytesRead;
  watched.written = watched.secure.bytesWritten;
}
