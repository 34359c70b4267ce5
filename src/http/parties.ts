import type { Socket } from 'node:net';

/** The party of unauthenticated connections. No operator's id is empty. */
export const STRANGERS = '';

/** Connections by party (an operator, or `STRANGERS`), the one idle for longest first. */
export class Parties {
  readonly #members = new Map<string, Map<Socket, number>>();
  readonly #partyOf = new Map<Socket, string>();

  /** @param nowMs the time of its last activity */
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

  /** Records activity: all others of its party have now been idle for longer. */
  touch(socket: Socket, nowMs: number): void {
    const party = this.of(socket);
    if (party !== undefined) this.join(party, socket, nowMs);
  }

  /** The connections of a party with the time of each one's last activity, as given by the caller. */
  membersOf(party: string): ReadonlyMap<Socket, number> {
    return this.#members.get(party) ?? new Map<Socket, number>();
  }

  /** The longest idle connection of the largest party (`STRANGERS` if tied); undefined if there is none. */
  longestIdleOfMost(): Socket | undefined {
    let most = this.membersOf(STRANGERS);
    for (const members of this.#members.values()) if (members.size > most.size) most = members;
    const [longest] = most.keys();
    return longest;
  }
}
