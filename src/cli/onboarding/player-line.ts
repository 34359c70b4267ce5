import { OPERATOR_ID } from '../../config/schema/schema.ts';
import { OPERATOR_USER } from '../../domain/operator-user.ts';
import { parseCsvLine, type Separator } from '../../lib/csv.ts';
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
  return separators.find((one) => parseCsvLine(line.text, one)?.join(',') === PLAYERS_HEADER);
}

/** Reads a line of the file; an imported player is permanent, so nothing doubtful is accepted. */
export function checkPlayerLine(line: Line, separator: Separator): CheckedLine {
  if ('fault' in line) return no(line.fault);
  const { number, text } = line;
  const fields = parseCsvLine(text, separator);
  if (fields === undefined) return no('a quote is not closed, or stands inside a field');
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
  const seen = [operatorUser, userId].map(unseenFault).find((one) => one !== undefined);
  if (seen !== undefined) return no(seen);
  if (!OPERATOR_USER.test(operatorUser)) {
    return no('operatorUser: must be 1 to 64 of A-Z a-z 0-9 . _ ~ -');
  }
  const word = [operatorUser, userId].find((id) => NO_ID.test(id));
  if (word !== undefined) return no(`"${word}" is a word of a database or spreadsheet, and no id`);
  const fault = userIdFault(userId);
  if (fault !== undefined) return no(`userId: ${fault}`);
  return { ok: true, player: { number, operatorId, operatorUser, userId } };
}

/** What databases write for no value, and spreadsheets for a long number or an error. */
const NO_ID =
  /^(?:null|\(null\)|\\N|undefined|NaN|#(?:N\/A|REF!|VALUE!|NAME\?|NUM!|DIV\/0!)|-?\d+(?:[.,]\d+E\+?|E\+)\d+)$/i;

/** A spreadsheet's mark of a text, or what nobody sees in a list. */
function unseenFault(id: string): string | undefined {
  if (/^['‘’]/u.test(id)) return "an id begins with an apostrophe, a spreadsheet's mark of a text";
  if (/[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(id)) {
    return 'an id holds an invisible character';
  }
  return undefined;
}

/** Opaque text of 1 to 64 characters (docs/protocol.md, User profile). */
function userIdFault(userId: string): string | undefined {
  if (userId === '') return 'must not be empty';
  if (userId.length > USER_ID_CHARS_MAX) return `must be at most ${USER_ID_CHARS_MAX} characters`;
  // With a stray space it would be another player, permanently.
  if (userId.trim() !== userId) return 'begins or ends with a space';
  if (/\p{Cc}/u.test(userId)) return 'holds a control character';
  return undefined;
}

function no(why: string): CheckedLine {
  return { ok: false, why };
}
