import type { SqlValue } from './sql-value.ts';
import type { Columns, Parameters } from './statement.ts';

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** What a parameter of each type of PostgreSQL takes. */
interface Given {
  readonly bigint: string | number;
  readonly bool: boolean;
  readonly bytea: Buffer;
  readonly date: string;
  readonly float8: number;
  readonly int: number;
  readonly json: string;
  readonly jsonb: string;
  readonly numeric: string;
  readonly text: string;
  readonly timestamptz: Date | string;
  readonly xid8: string;
}

type GivenType = keyof Given;
/** `?`: null where the member is missing or undefined. */
type ParameterType = GivenType | `${GivenType}[]` | `${GivenType}?`;
type ParameterTypes = Readonly<Record<string, ParameterType>>;

type ValueOf<Type> = Type extends `${infer Item extends GivenType}[]`
  ? readonly (Given[Item] | null)[]
  : Type extends `${infer Item extends GivenType}?`
    ? Given[Item] | null | undefined
    : Type extends GivenType
      ? Given[Type]
      : never;

type InputOf<Types extends ParameterTypes> = {
  readonly [Name in keyof Types & string as Types[Name] extends `${string}?`
    ? never
    : CamelCase<Name>]: ValueOf<Types[Name]>;
} & {
  readonly [Name in keyof Types & string as Types[Name] extends `${string}?`
    ? CamelCase<Name>
    : never]?: ValueOf<Types[Name]>;
};

/** Parameters whose values are the input's members of the same names, in camel case. */
export function named<const Types extends ParameterTypes>(types: Types) {
  const parameters = Object.entries(types).map(([name, type]) => {
    const member = camelCase(name);
    const of = (input: Readonly<Record<string, SqlValue | undefined>>) => input[member] ?? null;
    return [name, [type.replace('?', ''), of]] as const;
  });
  // `InputOf` says which member each of them reads.
  return Object.fromEntries(parameters) as Parameters<InputOf<Types>>;
}

const READERS = {
  bool: (row: Columns, column: string) => row.bool(column),
  bytes: (row: Columns, column: string) => row.bytes(column),
  date: (row: Columns, column: string) => row.date(column),
  int: (row: Columns, column: string) => row.int(column),
  text: (row: Columns, column: string) => row.text(column),
  'text?': (row: Columns, column: string) => row.textOrNull(column),
};

type ColumnTypes = Readonly<Record<string, keyof typeof READERS>>;
type RowOf<Types extends ColumnTypes> = {
  readonly [Name in keyof Types & string as CamelCase<Name>]: ReturnType<
    (typeof READERS)[Types[Name]]
  >;
};

/** Reads a row into an object with the columns' names in camel case; `?`: undefined for null. */
export function namedColumns<const Types extends ColumnTypes>(types: Types) {
  const readers = Object.entries(types).map(
    ([name, type]) => [name, camelCase(name), READERS[type]] as const,
  );
  return (row: Columns): RowOf<Types> => {
    const members = readers.map(([name, member, read]) => [member, read(row, name)]);
    // `RowOf` says the same of each.
    return Object.fromEntries(members) as RowOf<Types>;
  };
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
