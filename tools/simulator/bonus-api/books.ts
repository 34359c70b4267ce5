import type { Clock } from '../../../src/domain/clock.ts';
import { unreachable } from '../../../src/domain/unreachable.ts';
import type { BonusTemplate, PlayerBonus, PlayerGrant, TemplateFields } from './records.ts';

/** Why a call about a template or bonus is refused, in the codes of older wallets. */
export const BONUS_CODES = {
  templateNotFound: 30,
  templateExpired: 31,
  bonusNotFound: 32,
  /** The template is disabled, or its time has not begun. */
  templateNotActive: 33,
  /** The player has, or had, a bonus of this template. */
  alreadyIssued: 34,
  alreadyRevoked: 35,
  /** The bonus is used up or expired. */
  notRevocable: 36,
} as const;

export type BonusCode = (typeof BONUS_CODES)[keyof typeof BONUS_CODES];

/** Which items of a batch were done and which were not, both in the order of the request. */
export interface BatchResult<Refused> {
  readonly done: readonly PlayerBonus[];
  readonly refused: readonly (Refused & { readonly code: BonusCode })[];
}

export type ApplyResult =
  | ({ readonly kind: 'applied' } & BatchResult<{ readonly userId: string }>)
  | { readonly kind: 'refused'; readonly code: BonusCode };

// Large and far apart, so that a test never confuses the two kinds of id with each other or with a count.
const TEMPLATE_ID_FIRST = 501;
const BONUS_ID_FIRST = 90_001;
const DAY_SECONDS = 86_400;

/** Templates and bonuses of all partners. Ids are assigned in order, across all partners. */
export class BonusBooks {
  readonly #clock: Clock;
  readonly #templates = new Map<number, BonusTemplate>();
  readonly #bonuses = new Map<number, PlayerBonus>();
  /** One bonus per template and player, whatever happened to it (service protocol, Limits). */
  readonly #issued = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Every template, by id, in the order of the ids. */
  get templates(): ReadonlyMap<number, BonusTemplate> {
    return this.#templates;
  }

  /** Every bonus as it stands now, in the order of the ids. */
  bonuses(): readonly PlayerBonus[] {
    return [...this.#bonuses.values()].map((bonus) => this.#asOfNow(bonus));
  }

  /** The partner's template; another partner's counts as missing. */
  template(cid: string, id: number): BonusTemplate | undefined {
    const template = this.#templates.get(id);
    return template?.cid === cid ? template : undefined;
  }

  /** The partner's bonus as it is now; another partner's counts as missing. */
  bonus(cid: string, id: number): PlayerBonus | undefined {
    const bonus = this.#bonuses.get(id);
    return bonus?.template.cid === cid ? this.#asOfNow(bonus) : undefined;
  }

  addTemplate(cid: string, fields: TemplateFields): BonusTemplate {
    const template = { ...fields, cid, id: TEMPLATE_ID_FIRST + this.#templates.size };
    this.#templates.set(template.id, template);
    return template;
  }

  /** @throws Error when there is no such template */
  setEnabled(id: number, enable: boolean): void {
    const template = this.#templates.get(id);
    if (template === undefined) throw new Error(`no template ${id}`);
    this.#templates.set(id, { ...template, enable });
  }

  apply(cid: string, templateId: number, players: readonly PlayerGrant[]): ApplyResult {
    const template = this.template(cid, templateId);
    const refusal = this.#refusalOf(template);
    if (template === undefined || refusal !== undefined) {
      return { kind: 'refused', code: refusal ?? BONUS_CODES.templateNotFound };
    }
    const done: PlayerBonus[] = [];
    const refused: { userId: string; code: BonusCode }[] = [];
    for (const player of players) {
      const { userId } = player;
      const key = JSON.stringify([templateId, userId]);
      if (this.#issued.has(key)) {
        refused.push({ userId, code: BONUS_CODES.alreadyIssued });
        continue;
      }
      this.#issued.add(key);
      done.push(this.#issue(template, player));
    }
    return { kind: 'applied', done, refused };
  }

  revoke(cid: string, ids: readonly number[]): BatchResult<{ readonly bonusId: number }> {
    const done: PlayerBonus[] = [];
    const refused: { bonusId: number; code: BonusCode }[] = [];
    for (const bonusId of ids) {
      const bonus = this.bonus(cid, bonusId);
      const code = revokeRefusal(bonus);
      if (bonus === undefined || code !== undefined) {
        refused.push({ bonusId, code: code ?? BONUS_CODES.bonusNotFound });
      } else {
        done.push(this.#keep({ ...bonus, status: 'revoked' }));
      }
    }
    return { done, refused };
  }

  /** The player activates a new bonus. @throws Error when it is no longer new */
  activate(id: number): PlayerBonus {
    const bonus = this.#current(id);
    if (bonus.status !== 'new') throw new Error(`bonus ${id} is ${bonus.status}, not new`);
    return this.#keep({ ...bonus, status: 'active', ...this.#activation(bonus.template) });
  }

  /** One bet is placed with it, which activates a new bonus. @throws Error when it cannot be used */
  use(id: number): PlayerBonus {
    const found = this.#current(id);
    const bonus = found.status === 'new' ? this.activate(id) : found;
    if (bonus.status !== 'active' && bonus.status !== 'activated') {
      throw new Error(`bonus ${id} is ${bonus.status}`);
    }
    const availableBetCount = bonus.availableBetCount - 1;
    const status = availableBetCount === 0 ? 'done' : 'activated';
    return this.#keep({ ...bonus, availableBetCount, status });
  }

  #issue(template: BonusTemplate, player: PlayerGrant): PlayerBonus {
    const { userId, currency, betAmount, betCount, forceActivated } = player;
    const dates = forceActivated
      ? this.#activation(template)
      : { activationDate: null, endingDate: null };
    return this.#keep({
      id: BONUS_ID_FIRST + this.#bonuses.size,
      template,
      userId,
      currency,
      betAmount,
      betCount,
      availableBetCount: betCount,
      ...dates,
      status: forceActivated ? 'active' : 'new',
    });
  }

  #activation({ daysToUse }: BonusTemplate): { activationDate: number; endingDate: number } {
    const activationDate = this.#nowSeconds();
    return { activationDate, endingDate: activationDate + daysToUse * DAY_SECONDS };
  }

  #refusalOf(template: BonusTemplate | undefined): BonusCode | undefined {
    if (template === undefined) return BONUS_CODES.templateNotFound;
    const now = this.#nowSeconds();
    if (now > template.toTime) return BONUS_CODES.templateExpired;
    const isActive = template.enable && now >= template.fromTime;
    return isActive ? undefined : BONUS_CODES.templateNotActive;
  }

  /** Expiry depends only on the clock, so it is computed on reading and not stored. */
  #asOfNow(bonus: PlayerBonus): PlayerBonus {
    const { status, template, endingDate } = bonus;
    if (status !== 'new' && status !== 'active') return bonus;
    const end = Math.min(template.toTime, endingDate ?? Number.POSITIVE_INFINITY);
    return this.#nowSeconds() > end ? { ...bonus, status: 'expired' } : bonus;
  }

  #current(id: number): PlayerBonus {
    const bonus = this.#bonuses.get(id);
    if (bonus === undefined) throw new Error(`no bonus ${id}`);
    return this.#asOfNow(bonus);
  }

  #keep(bonus: PlayerBonus): PlayerBonus {
    this.#bonuses.set(bonus.id, bonus);
    return bonus;
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}

function revokeRefusal(bonus: PlayerBonus | undefined): BonusCode | undefined {
  if (bonus === undefined) return BONUS_CODES.bonusNotFound;
  switch (bonus.status) {
    case 'new':
    case 'active':
    case 'activated':
      return undefined;
    case 'revoked':
      return BONUS_CODES.alreadyRevoked;
    case 'expired':
    case 'done':
      return BONUS_CODES.notRevocable;
  }
  return unreachable(bonus.status);
}
