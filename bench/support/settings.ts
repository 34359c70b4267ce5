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
