import { objectText } from '../../../src/protocol/callback-bodies.ts';
import { jsonString } from '../../../src/protocol/json.ts';

/** What a partner decides about a template (service protocol, Create template). */
export interface TemplateFields {
  readonly name: string;
  readonly enable: boolean;
  /** 1 prematch, 2 live, 3 both. */
  readonly stage: number;
  /** Unix seconds, as `toTime`. */
  readonly fromTime: number;
  readonly toTime: number;
  readonly daysToUse: number;
  readonly betCount: number;
  readonly minSelection: number;
  readonly maxSelection: number;
  /** Exact text of the JSON number, as for the other odds and amounts. */
  readonly minOdd: string;
  readonly maxOdd: string;
  readonly betAmount: string;
  readonly maxWin: string;
  readonly currency: string;
  readonly maxWinCurrency: string;
  readonly disciplines: readonly string[];
  readonly availableCountries: readonly string[] | null;
  readonly availableTournaments: readonly string[] | null;
}

export interface BonusTemplate extends TemplateFields {
  readonly id: number;
  /** The partner it belongs to. */
  readonly cid: string;
}

/** States of a bonus (service protocol, Bonus status). */
export type BonusStatus = 'new' | 'active' | 'activated' | 'expired' | 'revoked' | 'done';

/** For whom a bonus is issued (service protocol, PlayerDataItem). */
export interface PlayerGrant {
  readonly userId: string;
  readonly currency: string;
  /** Exact text. */
  readonly betAmount: string;
  readonly betCount: number;
  readonly forceActivated: boolean;
}

export interface PlayerBonus {
  readonly id: number;
  /** As it was when the bonus was issued. */
  readonly template: BonusTemplate;
  readonly userId: string;
  readonly currency: string;
  /** Exact text. */
  readonly betAmount: string;
  readonly betCount: number;
  readonly availableBetCount: number;
  /** Unix seconds, as `endingDate`; null until the bonus is activated. */
  readonly activationDate: number | null;
  readonly endingDate: number | null;
  readonly status: BonusStatus;
}

const TEMPLATE_TYPE = 'freebet_standart';

/** A TemplateItem as JSON text (service protocol, Bonus template). */
export function templateText(template: BonusTemplate): string {
  return objectText({
    id: String(template.id),
    name: jsonString(template.name),
    isEnable: String(template.enable),
    ...sharedFields(template),
    daysToUse: String(template.daysToUse),
    disciplines: JSON.stringify(template.disciplines),
    freebetData: objectText({
      ...limitFields(template),
      betAmount: template.betAmount,
      betCount: String(template.betCount),
      maxWin: template.maxWin,
      currency: jsonString(template.currency),
      maxWinCurrency: jsonString(template.maxWinCurrency),
    }),
    ...availability(template),
  });
}

/** A PlayerBonusItem as JSON text (service protocol, Player bonus). */
export function bonusText(bonus: PlayerBonus): string {
  const { template } = bonus;
  return objectText({
    id: String(bonus.id),
    templateId: String(template.id),
    name: jsonString(template.name),
    userId: jsonString(bonus.userId),
    ...sharedFields(template),
    disciplines: JSON.stringify(template.disciplines),
    activationDate: String(bonus.activationDate),
    endingDate: String(bonus.endingDate),
    status: jsonString(bonus.status),
    freebetData: objectText({
      betAmount: bonus.betAmount,
      betCount: String(bonus.betCount),
      availableBetCount: String(bonus.availableBetCount),
      maxWin: template.maxWin,
      currency: jsonString(bonus.currency),
      ...limitFields(template),
    }),
    ...availability(template),
  });
}

function sharedFields({ cid, stage, fromTime, toTime }: BonusTemplate) {
  return {
    type: jsonString(TEMPLATE_TYPE),
    cid: jsonString(cid),
    stage: String(stage),
    fromTime: String(fromTime),
    toTime: String(toTime),
  };
}

function limitFields({ minSelection, maxSelection, minOdd, maxOdd }: BonusTemplate) {
  return {
    minSelection: String(minSelection),
    maxSelection: String(maxSelection),
    minOdd,
    maxOdd,
  };
}

function availability({ availableCountries, availableTournaments }: BonusTemplate) {
  return {
    availableCountries: JSON.stringify(availableCountries),
    availableTournaments: JSON.stringify(availableTournaments),
  };
}
