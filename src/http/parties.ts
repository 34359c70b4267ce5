import type { Socket } from 'node:net';

/** A caller that is not authenticated on its connection. No operator's id is empty. */
export const STRANGERS = '';

/** Connections by owner, the one that has been silent longest first. */
export class Parties {
  readonly #members = new Map<string, Map<Socket, number>>();
  readonly #partyOf = new Map<Socket, string>();

  /** @param nowMs of its last sign of life */
  join(party: string, socket: Socket, nowMs: number): void {
    this.leave(socket);
    const members = this.#members.get(party) ?? new Map<Socket, number>();
    members.set(socket, nowMs);
    this.#members.set(party, members);
    this.#partyOf.set(socket, party);
  }

  leave(socket: Socket): void {
    const party = this.of(socket);
    if (party === undefined) return;
    this.#partyOf.delete(socket);
    const members = this.#members.get(party);
    members?.delete(socket);
    if (members?.size === 0) this.#members.delete(party);
  }

  /** Undefined for a connection of no party. */
  of(socket: Socket): string | undefined {
    return this.#partyOf.get(socket);
  }

  /** It showed activity: all others of its party have now been idle longer. */
  touch(socket: Socket, nowMs: number): void {
    const party = this.of(socket);
    if (party !== undefined) this.join(party, socket, nowMs);
  }

  /** With the time of the last sign of life of each, on the clock of whoever told it. */
  membersOf(party: string): ReadonlyMap<Socket, number> {
    return this.#members.get(party) ?? new Map<Socket, number>();
  }

  /** Of the party with the most connections, strangers before others; undefined without any. */
  longestIdleOfMost(): Socket | undefined {
    let most = this.membersOf(STRANGERS);
    for (const members of this.#members.values()) if (members.size > most.size) most = members;
    const [longest] = most.keys();
    return longest;
  }
}
