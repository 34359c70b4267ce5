import type { Server } from 'node:http';
import type { BonusMethod } from '../../../src/bonuses/method-names.ts';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { signingKeys } from '../../../src/protocol/signature.ts';
import type { Gate, GatePoint } from '../gates.ts';
import { SimulatedServer } from '../wallet/listener.ts';
import type { TemplateOrder } from './answers.ts';
import { BonusBooks } from './books.ts';
import { BonusCallHandler } from './call-handler.ts';
import { type BonusRequest, createBonusHttp, type PartnerKeys } from './http.ts';
import type { BonusMisbehaviour } from './misbehaviour.ts';
import type { BonusTemplate, PlayerBonus, PlayerGrant, TemplateFields } from './records.ts';

/*
 * The service's bonus API on a real socket, with books and faults. What the service's protocol leaves open: errors are
 * `{"code","message"}`, 401 with 1 (signature), 400 with 5 (shape and limits), 404 with 30 (template) or 32 (bonus),
 * 400 with 31 (template past `toTime`) or 33 (not in force). Entries of `errorItems` are `{"userId","code":34}` for a
 * second bonus of a template and `{"bonusId","code"}` with 32, 35 (revoked) or 36 (done or expired). Pages have 100
 * items; template ids start at 501, bonus ids at 90001, over all partners.
 */

export interface BonusPartner {
  readonly cid: string;
  /** All of them verify. */
  readonly secrets: readonly string[];
}

export interface BonusApiOptions {
  readonly partners: readonly BonusPartner[];
  /** Decides what has expired; default: the system's clock. */
  readonly clock?: Clock;
  /** How `templates` lists; default `oldestFirst`. */
  readonly templateOrder?: TemplateOrder;
}

const DAY_SECONDS = 86_400;
const WAIT_MS = 10_000;

/** Starts a bonus API that keeps the protocol until it is told to misbehave. */
export async function startBonusApi(options: BonusApiOptions): Promise<SimulatedBonusApi> {
  const api = new SimulatedBonusApi(options);
  await api.up();
  return api;
}

/** The service's bonus API (service protocol, Bonus API). */
export class SimulatedBonusApi extends SimulatedServer {
  readonly #clock: Clock;
  readonly #books: BonusBooks;
  readonly #handler: BonusCallHandler;
  protected readonly server: Server;
  readonly #requests: BonusRequest[] = [];
  #partners: readonly PartnerKeys[];

  /** Use `startBonusApi`. */
  constructor({ partners, clock, templateOrder }: BonusApiOptions) {
    super();
    this.#clock = clock ?? systemClock;
    this.#partners = keysOf(partners);
    this.#books = new BonusBooks(this.#clock);
    this.#handler = new BonusCallHandler(this.#books, templateOrder ?? 'oldestFirst');
    this.server = createBonusHttp({
      partners: () => this.#partners,
      nowMs: () => this.#clock.monotonicMs(),
      record: (request) => {
        this.#requests.push(request);
        this.#handler.changes.notify();
      },
      serve: (call, response) => void this.#handler.serve(call, response),
    });
  }

  /** `service.bonusApiUrl` of the gateway's configuration. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Every template of every partner, by id. */
  get templates(): ReadonlyMap<number, BonusTemplate> {
    return this.#books.templates;
  }

  /** Every bonus of every partner as it stands now, in the order of the ids. */
  get bonuses(): readonly PlayerBonus[] {
    return this.#books.bonuses();
  }

  /** All requests as they came, in order of arrival. */
  get requests(): readonly BonusRequest[] {
    return this.#requests;
  }

  /** The bonus as it is now, of any partner. */
  bonus(id: number): PlayerBonus | undefined {
    return this.bonuses.find((bonus) => bonus.id === id);
  }

  /** Makes a template in the partner's web console; it can be issued now and for 30 days. */
  createTemplate(cid: string, fields: Partial<TemplateFields> = {}): BonusTemplate {
    const now = Math.floor(this.#clock.nowMs() / 1000);
    const usual: TemplateFields = {
      name: 'Bonus freebet',
      enable: true,
      stage: 3,
      fromTime: now - DAY_SECONDS,
      toTime: now + 30 * DAY_SECONDS,
      daysToUse: 5,
      betCount: 1,
      minSelection: 1,
      maxSelection: 2,
      minOdd: '1.01',
      maxOdd: '3',
      betAmount: '5',
      maxWin: '100',
      currency: 'USD',
      maxWinCurrency: 'USD',
      disciplines: ['csgo'],
      availableCountries: null,
      availableTournaments: null,
    };
    const template = this.#books.addTemplate(cid, { ...usual, ...fields });
    this.#handler.changes.notify();
    return template;
  }

  /** @throws Error when there is no such template */
  setEnabled(templateId: number, enable: boolean): void {
    this.#books.setEnabled(templateId, enable);
  }

  /** Issues a bonus in the partner's web console. @throws Error when the API would refuse it */
  issueBonus(
    templateId: number,
    player: Partial<PlayerGrant> & { readonly userId: string },
  ): PlayerBonus {
    const usual = { currency: 'USD', betAmount: '5', betCount: 1, forceActivated: true };
    const cid = this.templates.get(templateId)?.cid ?? '';
    const result = this.#books.apply(cid, templateId, [{ ...usual, ...player }]);
    const bonus = result.kind === 'applied' ? result.done[0] : undefined;
    if (bonus === undefined) throw new Error(`no bonus of template ${templateId} is issued`);
    this.#handler.changes.notify();
    return bonus;
  }

  /** The player takes a new bonus. @throws Error when it is not new any more */
  activateBonus(bonusId: number): PlayerBonus {
    return this.#books.activate(bonusId);
  }

  /** A bet is placed with the bonus. @throws Error when it cannot be used (any more) */
  useBonus(bonusId: number): PlayerBonus {
    return this.#books.use(bonusId);
  }

  setPartners(partners: readonly BonusPartner[]): void {
    this.#partners = keysOf(partners);
  }

  /** @param options.calls limits it to this many calls @returns removes this misbehaviour */
  misbehave(
    method: BonusMethod | 'any',
    misbehaviour: BonusMisbehaviour,
    { calls = Number.POSITIVE_INFINITY }: { readonly calls?: number } = {},
  ): () => void {
    return this.#handler.misbehaviours.add(matching(method), misbehaviour, calls);
  }

  /** Removes all misbehaviours. Calls that hang keep hanging. */
  behave(): void {
    this.#handler.misbehaviours.clear();
  }

  /** Executes the calls that arrived under `effect: 'later'`, in order of arrival. @returns how many calls */
  applyLate(): number {
    return this.#handler.applyLate();
  }

  /** Stops calls until the gate is released: `before` (default) they take effect, or `after`. */
  hold(
    method: BonusMethod | 'any',
    { point = 'before' }: { readonly point?: GatePoint } = {},
  ): Gate {
    return this.#handler.gates.hold(point, matching(method));
  }

  /** Resolves as soon as `predicate` is true. @throws Error if it is not within `timeoutMs` (10 s) */
  waitFor(predicate: (api: SimulatedBonusApi) => boolean, timeoutMs = WAIT_MS): Promise<void> {
    return this.#handler.changes.waitFor(() => predicate(this), timeoutMs, String(predicate));
  }
}

function matching(method: BonusMethod | 'any'): (called: BonusMethod) => boolean {
  return (called) => method === 'any' || method === called;
}

function keysOf(partners: readonly BonusPartner[]): readonly PartnerKeys[] {
  return partners.map(({ cid, secrets }) => ({ cid, keys: signingKeys(secrets) }));
}
