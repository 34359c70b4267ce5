import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { EndlessAnswerError } from './answer-meter.ts';

/**
 * Allowed overhead since the last request: four times the bytes of an answer, plus this much for tickets or a
 * handshake in which the other end requests a certificate after all. An answer in records of 25 bytes
 * takes no more.
 */
const BESIDE_BYTES_MAX = 32 * 1024;
const BESIDE_PER_BYTE_MAX = 4;

const LOOK_EVERY_MS = 250;

interface Watched {
  /** The TCP connection. */
  readonly wire: Socket;
  /** The TLS connection on top: only the bytes of requests and answers. */
  readonly secure: TLSSocket;
  /** The counts at the latest request. */
  wireBytes: number;
  answerBytes: number;
  written: number;
}

/**
 * Closes connections with endless TLS traffic. Tickets, new keys and new handshakes are consumed by
 * OpenSSL, so that no layer above sees a byte of them; without a limit they would keep this process busy for
 * one operator while all others wait (I7): one connection full of tickets took 83 % of a
 * processor.
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
