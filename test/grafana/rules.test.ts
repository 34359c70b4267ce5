import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alerts, alertsFolder } from './support/alerts.ts';
import { hasPrometheus, promtool } from './support/prometheus-programs.ts';

const RULES = resolve(import.meta.dirname, 'rules');
const ROOT = resolve(import.meta.dirname, '../..');
const SEVERITIES = ['critical', 'warning'];
const withPrometheus = await hasPrometheus();

interface RuleTest {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

/** `rollback-dead` for `WagergateRollbackDead`. */
function fileNameOf(alert: string): string {
  return alert
    .replace(/^Wagergate/, '')
    .replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '-'}${letter.toLowerCase()}`);
}

describe.each(alerts())('the alert $alert', ({ alert, labels, annotations }) => {
  it('says how bad it is, what is wrong, and where to read on', () => {
    expect(SEVERITIES).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    expect(annotations.runbook_url).toBe(`docs/runbooks/${fileNameOf(alert)}.md`);
  });

  it('has a runbook that says what it means, where to look first and what to do', () => {
    const text = readFileSync(join(ROOT, annotations.runbook_url), 'utf8');
    expect(text).toMatch(new RegExp(`^# ${alert}\n`));
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.slice(0, 3)).toEqual(['What it means', 'First look', 'What to do']);
  });

  it('is tested in both directions', () => {
    const text = readFileSync(join(RULES, `${fileNameOf(alert)}.yaml`), 'utf8');
    const expectations = (parse(text) as RuleTest).tests.flatMap((one) => one.alert_rule_test);
    const own = expectations.filter(({ alertname }) => alertname === alert);
    expect(own.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
    expect(own.some(({ exp_alerts }) => exp_alerts.length === 0)).toBe(true);
    expect(own).toHaveLength(expectations.length);
  });
});

it('count events in whole numbers: Prometheus only estimates how much a counter grew', () => {
  const estimated = alerts().filter(
    ({ expr, annotations }) =>
      expr.includes('increase(') && annotations.summary.includes('$value | humanize }}'),
  );
  expect(estimated.map(({ alert }) => alert)).toEqual([]);
});

it('are as many as the README counts', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(/ and (\d+) Prometheus alerts/.exec(readme)?.[1]).toBe(String(alerts().length));
});

describe.skipIf(!withPrometheus)('promtool', () => {
  it('accepts the rules', async () => {
    const files = readdirSync(alertsFolder).map((name) => join(alertsFolder, name));
    expect(await promtool(['check', 'rules', '--lint-fatal', ...files])).toMatchObject({ code: 0 });
  });

  it.each(readdirSync(RULES))('finds that %s holds', async (name) => {
    const { code, output } = await promtool(['test', 'rules', name], { cwd: RULES });
    expect(output).toContain('SUCCESS');
    expect(code).toBe(0);
  });
});

describe.each(alerts())('the runbook of $alert', ({ annotations }) => {
  const text = readFileSync(join(ROOT, annotations.runbook_url), 'utf8');

  it('that puts an operator into maintenance says how it gets out: its alerts are silent there', () => {
    expect(text.includes('status: maintenance')).toBe(text.includes('status: active'));
  });

  it('names no operator of an example in a command that somebody copies at night', () => {
    expect(text).not.toMatch(/`wagergate [^`]*\b(?:alpha|beta|gamma)\b/);
  });
});

it('no runbook is left without its alert', () => {
  const books = readdirSync(join(ROOT, 'docs/runbooks'))
    .filter((file) => file !== 'README.md')
    .sort();
  expect(books).toEqual(
    alerts()
      .map(({ alert }) => `${fileNameOf(alert)}.md`)
      .sort(),
  );
});
