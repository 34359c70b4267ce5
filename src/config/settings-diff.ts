import { Slices } from '../lib/slices.ts';
import type { Configuration } from './schema/schema.ts';
import {
  type ConfigurationView,
  type SettingsView,
  type SettingView,
  viewOf,
} from './settings-view.ts';

/** One changed setting; of a secret only the fact that it changed. */
export type SettingChange =
  | { readonly path: string; readonly before: string | null; readonly after: string | null }
  | { readonly path: string; readonly secret: true };

export type OperatorChange =
  | { readonly id: string; readonly kind: 'added' | 'removed' }
  | { readonly id: string; readonly kind: 'changed'; readonly settings: readonly SettingChange[] };

export interface ConfigurationDiff {
  readonly gateway: readonly SettingChange[];
  /** In alphabetical order, changed operators only. */
  readonly operators: readonly OperatorChange[];
}

/**
 * What changes when `after` comes into force; unchanged operators are the same object and are skipped.
 * @param key for the fingerprints; any secret will do
 */
export async function changesBetween(
  before: Configuration,
  after: Configuration,
  key: string,
): Promise<ConfigurationDiff> {
  const [old, fresh] = [withoutThoseOf(after, before), withoutThoseOf(before, after)];
  return await diffOf(await viewOf(old, key), await viewOf(fresh, key));
}

function withoutThoseOf(other: Configuration, one: Configuration): Configuration {
  const own = [...one.operators].filter(([id, operator]) => other.operators.get(id) !== operator);
  return { ...one, operators: new Map(own) };
}

/** What changes when `after` replaces `before`. Works in slices: there may be a thousand operators. */
export async function diffOf(
  before: ConfigurationView,
  after: ConfigurationView,
): Promise<ConfigurationDiff> {
  const ids = new Set([...Object.keys(before.operators), ...Object.keys(after.operators)]);
  const operators = await new Slices().map([...ids].sort(), (id) =>
    changeOfOperator(id, own(before.operators, id), own(after.operators, id)),
  );
  return { gateway: changesOf(before.gateway, after.gateway), operators: operators.flat() };
}

function changeOfOperator(
  id: string,
  before: SettingsView | undefined,
  after: SettingsView | undefined,
): OperatorChange | [] {
  if (before === undefined) return { id, kind: 'added' };
  if (after === undefined) return { id, kind: 'removed' };
  const settings = changesOf(before, after);
  return settings.length === 0 ? [] : { id, kind: 'changed', settings };
}

export function isEmpty({ gateway, operators }: ConfigurationDiff): boolean {
  return gateway.length + operators.length === 0;
}

/** What a person should know before a change of an operator comes into force, one sentence each. */
export function warningsOf(change: OperatorChange): readonly string[] {
  if (change.kind === 'changed') return changeWarnings(change.settings);
  return change.kind === 'removed' ? [REMOVED] : [];
}

const REMOVED = 'nothing is sent to it any more: its deliveries are held until its file returns';

function changeWarnings(settings: readonly SettingChange[]): readonly string[] {
  const of = (path: string) => settings.find((setting) => setting.path === path);
  const status = of('status');
  const statusAfter = status !== undefined && 'after' in status ? status.after : undefined;
  const warnings: string[] = [];
  if (of('wallet.baseUrl') !== undefined) {
    warnings.push(
      of('wallet.generation') === undefined
        ? 'its WALLET HAS ANOTHER ADDRESS, which from now on also gets the bets of the old one; ' +
            'if its books are new, raise wallet.generation too'
        : 'its WALLET IS ANOTHER ADDRESS',
    );
  }
  if (of('wallet.generation') !== undefined) {
    warnings.push(
      'bets placed under another wallet.generation are held until a person releases them',
    );
  }
  if (of('api.cid') !== undefined) warnings.push('its requests with the old api.cid are refused');
  if (statusAfter === 'maintenance') warnings.push('nothing is sent to it: deliveries wait');
  if (statusAfter === 'suspended') warnings.push('its players can place no bets');
  return warnings;
}

function changesOf(before: SettingsView, after: SettingsView): readonly SettingChange[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].flatMap((path) => changeOf(path, own(before, path), own(after, path)));
}

/** Only own members: `constructor` is a valid operator id, and every object inherits one. */
function own<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function changeOf(
  path: string,
  before: SettingView | undefined,
  after: SettingView | undefined,
): SettingChange | [] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (typeof before === 'object' || typeof after === 'object') return { path, secret: true };
  return { path, before: before ?? null, after: after ?? null };
}
