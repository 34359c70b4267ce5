import {
  type ConfigurationDiff,
  type OperatorChange,
  type SettingChange,
  warningsOf,
} from '../../config/settings-diff.ts';
import { plain } from '../../lib/plain-text.ts';

/** A diff for people: `+` is added, `-` removed, `~` changed, `!` needs attention. */
export function diffText({ gateway, operators }: ConfigurationDiff): string {
  const lines = gateway.length === 0 ? [] : ['~ gateway.yaml', ...gateway.map(settingLine)];
  for (const change of operators) lines.push(...operatorLines(change));
  return lines.map(plain).join('\n');
}

function operatorLines(change: OperatorChange): readonly string[] {
  const sign = { added: '+', removed: '-', changed: '~' }[change.kind];
  return [
    `${sign} operator ${change.id}${change.kind === 'changed' ? '' : `: ${change.kind}`}`,
    ...(change.kind === 'changed' ? change.settings.map(settingLine) : []),
    ...warningsOf(change).map((warning) => `  ! ${warning}`),
  ];
}

function settingLine(setting: SettingChange): string {
  if ('secret' in setting) return `    ${setting.path}: changed (a secret, not shown)`;
  const { path, before, after } = setting;
  return `    ${path}: ${before ?? '(not set)'} -> ${after ?? '(not set)'}`;
}
