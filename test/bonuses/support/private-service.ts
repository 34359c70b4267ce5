import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import type { CallResult } from '../../../tools/simulator/signed-client.ts';
import { objectOf } from './bonus-gateway.ts';

/** The aggregator's ids of players, which no operator may see. */
const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** The statuses of a service that works, is busy, or fails; anything else is wrong in a history without mistakes. */
const USUAL: ReadonlySet<number> = new Set([200, 409, 429, 502, 503, 504]);

/**
 * What one operator knows of the bonus API as if it were the only one to use it, made from the protocol and the answers
 * alone: whatever was told once must hold in every later answer.
 */
export class PrivateService {
  readonly #cid: string;
  /** Texts that only others use. */
  readonly #foreign: readonly string[];
  readonly #problems: string[] = [];
  /** Templates and bonuses as they were told, by what was asked for. */
  readonly #templates = new Map<string, unknown>();
  readonly #bonuses = new Map<string, unknown>();

  constructor(cid: string, foreign: readonly string[]) {
    this.#cid = cid;
    this.#foreign = foreign;
  }

  get problems(): readonly string[] {
    return this.#problems;
  }

  get templateIds(): readonly number[] {
    return [...this.#templates.values()].map(Number).toSorted((a, b) => a - b);
  }

  /** Any answer: nothing of others is in it, and it is no refusal, since nothing wrong was asked. */
  told(method: BonusMethod, { status, body, json }: CallResult): void {
    for (const text of this.#foreign) {
      if (body.includes(text)) this.#wrong(`${method} shows ${text}`, body);
    }
    if (GUID.test(body)) this.#wrong(`${method} shows a player of the aggregator's`, body);
    // A read that the service refuses with code 100 is passed on.
    const isPassedOn = status === 400 && json?.code === 100;
    if (!USUAL.has(status) && !isPassedOn) this.#wrong(`${method} is ${status}`, body);
  }

  /** @param before whether it was told already when this call began */
  toldTemplate(name: string, { status, body, json }: CallResult, before: boolean): void {
    if (status !== 200) {
      if (before && status !== 429) this.#wrong(`${name} was made, and is ${status}`, body);
      return;
    }
    if (json?.name !== name || json.cid !== this.#cid) this.#wrong(`not ${name}`, body);
    this.#same(this.#templates, name, json?.id);
  }

  isTold(name: string): boolean {
    return this.#templates.has(name);
  }

  toldBatch(
    templateId: number,
    users: readonly string[],
    { status, body, json }: CallResult,
  ): void {
    if (status !== 200) return;
    const issued = Object.values(objectOf(json?.items)).map(objectOf);
    const refused = Object.values(objectOf(json?.errorItems)).map(objectOf);
    const named = [...issued, ...refused].map(({ userId }) => String(userId)).toSorted();
    if (named.join() !== users.toSorted().join()) this.#wrong(`a batch for ${users.join()}`, body);
    for (const bonus of issued) {
      if (bonus.templateId !== templateId) this.#wrong(`a batch of ${templateId}`, body);
      this.#toldBonus(bonus);
    }
  }

  /** A list that began after `known` bonuses of this player had been told. */
  toldBonuses(user: string, { status, body, json }: CallResult, known: readonly unknown[]): void {
    if (status !== 200) return;
    const bonuses = Object.values(objectOf(json?.items)).map(objectOf);
    const ids = new Set(bonuses.map(({ id }) => id));
    if (bonuses.some(({ userId }) => userId !== user)) this.#wrong(`not of ${user} alone`, body);
    if (!known.every((id) => ids.has(id))) this.#wrong(`${user} lacks ${known.join()}`, body);
    for (const bonus of bonuses) this.#toldBonus(bonus);
  }

  bonusesOf(user: string): readonly unknown[] {
    return [...this.#bonuses].flatMap(([key, id]) => (key.endsWith(`/${user}`) ? [id] : []));
  }

  /** A list that began after `known` templates had been told; of up to a hundred, and nothing made meanwhile left out. */
  toldTemplates({ status, body, json }: CallResult, known: readonly number[]): void {
    if (status !== 200) return;
    const ids = Object.values(objectOf(json?.items)).map((item) => Number(objectOf(item).id));
    if (!known.every((id) => ids.includes(id))) this.#wrong(`templates lack ${known.join()}`, body);
    if (ids.join() !== ids.toSorted((a, b) => a - b).join()) this.#wrong('not oldest first', body);
  }

  #toldBonus({ id, templateId, userId }: Readonly<Record<string, unknown>>): void {
    this.#same(this.#bonuses, `${String(templateId)}/${String(userId)}`, id);
  }

  #same(told: Map<string, unknown>, what: string, id: unknown): void {
    const before = told.get(what) ?? id;
    if (before !== id || typeof id !== 'number') this.#wrong(`${what} was ${String(before)}`, id);
    told.set(what, id);
  }

  #wrong(what: string, told: unknown): void {
    this.#problems.push(`${this.#cid}: ${what}: ${String(told)}`);
  }
}
