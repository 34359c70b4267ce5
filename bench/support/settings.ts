import { type ParseArgsConfig, parseArgs } from 'node:util';

/** An unknown option or an invalid number, with a one-line message for people. */
export class SettingsError extends Error {}

/** @throws SettingsError for an unknown option, or one without a value */
export function optionsOf<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : String(error));
  }
}

/** @throws SettingsError unless `text` is a whole number of 1 or more */
export function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new SettingsError(`${name} must be a whole number of 1 or more`);
  }
  return value;
}

export interface NumberSettings<Name extends string> {
  readonly numbers: Readonly<Record<Name, number>>;
  /** The file for the result. */
  readonly resultFile: string;
  /** Only print the help. */
  readonly help: boolean;
}

/**
 * The settings of a benchmark whose options are all whole numbers, each named like its setting.
 *
 * @throws SettingsError
 */
export function numbersOf<Name extends string>(
  args: readonly string[],
  benchmark: string,
  defaults: Readonly<Record<Name, number>>,
): NumberSettings<Name> {
  const names = Object.keys(defaults).filter((name): name is Name => name in defaults);
  const texts = names.map((name) => [
    name,
    { type: 'string', default: String(defaults[name]) } as const,
  ]);
  const values: Readonly<Record<string, unknown>> = optionsOf(args, {
    ...Object.fromEntries(texts),
    out: { type: 'string', default: `bench/results/${benchmark}.json` },
    help: { type: 'boolean', short: 'h', default: false },
  });
  const numbers: Record<Name, number> = { ...defaults };
  for (const name of names) numbers[name] = positive(`--${name}`, String(values[name]));
  return { numbers, resultFile: String(values.out), help: values.help === true };
}
