import { type ParseArgsConfig, parseArgs } from 'node:util';

/** An option that is not known or not a number, in one line for people. */
export class SettingsError extends Error {}

/** @throws SettingsError for an option that is not known, or that lacks its value */
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
  /** Where the result is written. */
  readonly resultFile: string;
  /** Only the help was asked for. */
  readonly help: boolean;
}

/**
 * The settings of a benchmark that has whole numbers alone, each an option of its name.
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
