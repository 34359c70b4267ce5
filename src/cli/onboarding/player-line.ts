import { OPERATOR_ID } from '../../config/schema/schema.ts';
import { INVISIBLE } from '../../domain/invisible.ts';
import { OPERATOR_USER } from '../../domain/operator-user.ts';
import { csvFields, type Separator } from '../../lib/csv.ts';
import type { Line } from '../../lib/lines.ts';
import type { PlayerLine } from '../../store/sessions/player-takeover.ts';

/** The required first line of the file. */
export const PLAYERS_HEADER = 'operator,operatorUser,userId';

export type CheckedLine =
  | { readonly ok: true; readonly player: PlayerLine }
  | { readonly ok: false; readonly why: string };

const USER_ID_CHARS_MAX = 64;

/** The character that separates the fields of the header; undefined if the line is no header. */
export function separatorOf(line: Line): Separator | undefined {
  if (!('text' in line)) return undefined;
  const separators: readonly Separator[] = [',', ';'];
  return separators.find((one) => String(csvFields(line.text, one)) === PLAYERS_HEADER);
}

/** Reads a line of the file; an imported player is permanent, so nothing doubtful is accepted. */
export function checkPlayerLine(line: Line, separator: Separator): CheckedLine {
  if ('fault' in line) return no(line.fault);
  const { number, text } = line;
  const fields = csvFields(text, separator);
  if (typeof fields === 'string') return no('a quote is not closed, or stands inside a field');
  const [operatorId, operatorUser, userId] = fields;
  if (
    operatorId === undefined ||
    operatorUser === undefined ||
    userId === undefined ||
    fields.length > 3
  ) {
    return no(`has ${fields.length} field(s) where 3 belong: ${PLAYERS_HEADER}`);
  }
  if (!OPERATOR_ID.test(operatorId)) {
    return no('operator: must be 2 to 32 of a-z 0-9 - and begin with a letter');
  }
  if (!OPERATOR_USER.test(operatorUser)) {
    return no('operatorUser: must be 1 to 64 of A-Z a-z 0-9 . _ ~ -');
  }
  const word = [operatorUser, userId].find((id) => NO_ID.test(id));
  if (word !== undefined)
    return no(`"${word}" is what a database or spreadsheet writes, and no id`);
  const fault = userIdFault(userId);
  if (fault !== undefined) return no(`userId: ${fault}`);
  return { ok: true, player: { number, operatorId, operatorUser, userId } };
}

/** What databases write for no value, and spreadsheets for a long number, an error or, by an apostrophe, a text. */
const NO_ID =
  /^(?:['‘’].*|null|\(null\)|\\N|undefined|NaN|#{3,}|#(?:N\/A|REF!|VALUE!|NAME\?|NUM!|DIV\/0!)|-?\d+(?:[.,]\d+E\+?|E\+)\d+)$/i;

/** Opaque text of 1 to 64 characters (service protocol, User profile). */
function userIdFault(userId: string): string | undefined {
  if (userId === '') return 'must not be empty';
  if (userId.length > USER_ID_CHARS_MAX) return `must be at most ${USER_ID_CHARS_MAX} characters`;
  // With a stray space it would be another player, permanently.
  if (userId.trim() !== userId) return 'begins or ends with a space';
  if (INVISIBLE.test(userId)) return 'holds an invisible character';
  return undefined;
}

function no(why: string): CheckedLine {
  return { ok: false, why };
}
