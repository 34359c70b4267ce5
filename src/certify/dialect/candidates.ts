import { CODES } from '../../domain/codes.ts';
import { OPERATIONS } from '../../domain/operation.ts';
import { jsonObjectIn } from '../../protocol/json.ts';
import { isOpenPlaceCode } from '../../wallets/adapters/dialect.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import { codesIn } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';

/** Codes with a meaning of their own for a place, which code 8 must not hide. */
const PLACE_CODES: ReadonlySet<number> = new Set([1, 3, 4, 5, 7, 11, 12, 13, 14, 15, 16]);

/** Dialects that might make an answer understood, the mildest first: guesses that the caller tries. */
export function candidatesFor(recorded: RecordedCall): readonly Dialect[] {
  const { exchange, answer, wanted } = recorded;
  if (exchange.kind !== 'response') return [];
  const { status } = exchange;
  if (answer.kind === 'accepted') return acceptances(status, recorded);
  if (answer.kind !== 'refused' || wanted.kind === 'success') return [];
  return refusals(status, recorded);
}

/** `successStatuses`, `emptyOk`, `echo`, `okCodes`. */
function acceptances(status: number, { exchange }: RecordedCall): readonly Dialect[] {
  const document = exchange.kind === 'response' ? jsonObjectIn(exchange.body) : undefined;
  const statuses: Dialect = status === 200 ? {} : { successStatuses: [200, status] };
  const codes = (document === undefined ? [] : codesIn(document)).map(({ code }) => code);
  const okCodes: readonly Dialect[] = codes.map((code) => ({ okCodes: [code] }));
  const bodies: readonly Dialect[] = [
    {},
    { emptyOk: true },
    { echo: 'ignore' },
    ...okCodes,
    ...okCodes.map((one): Dialect => ({ ...one, echo: 'ignore' })),
  ];
  return bodies.map((body) => ({ ...statuses, ...body }));
}

/** `errorStatuses`, `okCodes`, `codeField`, `mapCodes`, `rollbackConfirmedBy`. */
function refusals(status: number, recorded: RecordedCall): readonly Dialect[] {
  const { exchange } = recorded;
  const proper = properCode(recorded);
  const document = exchange.kind === 'response' ? jsonObjectIn(exchange.body) : undefined;
  const codes = document === undefined ? [] : codesIn(document);
  const statuses: Dialect = isSuccess(status)
    ? { okCodes: [0] }
    : { errorStatuses: { [status]: proper } };
  const fields: readonly { readonly field: Dialect; readonly code: number | undefined }[] =
    codes.length === 0
      ? [{ field: {}, code: undefined }]
      : codes.map(({ name, code }) => ({
          field: name === 'code' ? {} : { codeField: name },
          code,
        }));
  return fields.flatMap(({ field, code }) => {
    const meanings = meaningsOf(recorded, code, proper);
    const bare = statusItems(status, code, statuses);
    return bare.flatMap((one) =>
      meanings.map((meaning): Dialect => ({ ...field, ...one, ...meaning })),
    );
  });
}

/** The code itself, or a mapping to the proper one. */
function meaningsOf(
  { operation, wanted }: RecordedCall,
  code: number | undefined,
  proper: number,
): readonly Dialect[] {
  const isRollback = wanted.kind === 'confirmation';
  if (code === undefined || code === CODES.system) return isRollback ? [] : [{}];
  if (isRollback) return [{}, { rollbackConfirmedBy: [code] }];
  // Mapped, an exception (0) or a timeout behind the wallet would count as a decline after a debit.
  if (operation === 'place' && isOpenPlaceCode(code)) return [{}];
  // Mapped to 8, every decline with this code would cause a rollback.
  if (wanted.kind === 'duplicate' && PLACE_CODES.has(code)) return [{}];
  return [{}, { mapCodes: { [operation]: { [code]: proper } } }];
}

/**
 * With 400 the body's code decides: a code for the status would make every proxy's "Bad Request" a decline.
 * With other statuses the body's code is more precise, unless it repeats the status.
 */
function statusItems(
  status: number,
  code: number | undefined,
  ofStatus: Dialect,
): readonly Dialect[] {
  if (status === 400) return [{}];
  if (code === undefined || code === status || isSuccess(status)) return [ofStatus];
  return [{ errorStatuses: { [status]: 'body' } }, ofStatus];
}

const isSuccess = (status: number) => status >= 200 && status < 300;

function properCode({ wanted }: RecordedCall): number {
  if (wanted.kind === 'duplicate') return CODES.alreadyProcessed;
  if (wanted.kind === 'refusal') return wanted.codes[0] ?? CODES.validation;
  return CODES.validation;
}

/** One dialect over another: lists and maps grow, anything else is replaced. */
export function merged(base: Dialect, patch: Dialect): Dialect {
  const { mapCodes = {} } = patch;
  const codes = { ...base.mapCodes };
  for (const operation of OPERATIONS) {
    const added = mapCodes[operation];
    if (added !== undefined) codes[operation] = { ...base.mapCodes?.[operation], ...added };
  }
  return {
    ...base,
    ...patch,
    ...listed('successStatuses', base, patch),
    ...listed('okCodes', base, patch),
    ...listed('rollbackConfirmedBy', base, patch),
    ...(patch.errorStatuses === undefined
      ? {}
      : { errorStatuses: { ...base.errorStatuses, ...patch.errorStatuses } }),
    ...(patch.mapCodes === undefined ? {} : { mapCodes: codes }),
  };
}

type Listed = 'successStatuses' | 'okCodes' | 'rollbackConfirmedBy';

function listed(name: Listed, base: Dialect, patch: Dialect): Dialect {
  const added = patch[name];
  if (added === undefined) return {};
  return { [name]: [...new Set([...(base[name] ?? []), ...added])] };
}
