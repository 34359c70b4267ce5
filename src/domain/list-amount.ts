/** An amount in a list, or why it cannot be read. */
export type ListAmount =
  | { readonly amount: string; readonly fault?: undefined }
  | { readonly amount?: undefined; readonly fault: string };

const PLAIN = /^(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,20})?$/;
const DECIMAL = /^\+?0*([0-9]{0,30})(?:\.([0-9]{0,20}))?$/;
/** `1,234.56` and `1,234,567`: a point or a second comma proves that commas separate groups. */
const COMMA_GROUPS = /^[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+\.[0-9]{1,20}|(?:,[0-9]{3}){2,9})$/;
const POINT_GROUPS = /^[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+,[0-9]{1,20}|(?:\.[0-9]{3}){2,9})$/;
/** `12,5` and `0,125`, not `1,234`: three digits after a comma may be thousands. */
const COMMA_DECIMAL = /^(?:[0-9]{1,30},(?:[0-9]{1,2}|[0-9]{4,20})|0+,[0-9]{1,20})$/;
const AMBIGUOUS = /^[1-9][0-9]{0,2},[0-9]{3}$/;
const EXPONENT = /^([0-9]{1,20})(?:\.([0-9]{1,20}))?[eE]([-+]?[0-9]{1,2})$/;

const CHARS_SHOWN = 40;

/** Reads an amount of a list as a JSON number, never through a double. A comma needs a single possible meaning. */
export function readListAmount(cell: string): ListAmount {
  if (PLAIN.test(cell)) return { amount: cell };
  const text = cell.trim();
  const shown = shownCell(text);
  if (text.startsWith('-'))
    return { fault: `${shown} is negative: amounts are given without sign` };
  if (AMBIGUOUS.test(text)) {
    return { fault: `${shown} may be a fraction or thousands: write the point of decimals` };
  }
  if (COMMA_GROUPS.test(text)) return decimalOf(text.replaceAll(',', ''), shown);
  if (POINT_GROUPS.test(text)) return decimalOf(text.replaceAll('.', '').replace(',', '.'), shown);
  if (COMMA_DECIMAL.test(text)) return decimalOf(text.replace(',', '.'), shown);
  if (EXPONENT.test(text)) return { amount: text.replace(/^0+(?=[0-9])/, '') };
  return decimalOf(text, shown);
}

/** The start of a cell, in quotes; escaped, because it may hold any character but U+0000. */
export function shownCell(cell: string): string {
  return JSON.stringify(cell.slice(0, CHARS_SHOWN));
}

function decimalOf(text: string, shown: string): ListAmount {
  const match = DECIMAL.exec(text);
  const [, whole = '', fraction = ''] = match ?? [];
  if (match === null || !/[0-9]/.test(text)) return { fault: `${shown} is no amount` };
  const digits = whole === '' ? '0' : whole;
  return { amount: fraction === '' ? digits : `${digits}.${fraction}` };
}
