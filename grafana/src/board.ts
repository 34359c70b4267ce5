import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE, type MadePanel } from './panels.ts';

export interface BoardSpec {
  /** Its uid, after `wagergate-`, and the name of its file. */
  readonly name: string;
  readonly title: string;
  readonly why: string;
  /** Whether exactly one operator is chosen, any number of them, or none: then the choice is only passed on. */
  readonly operators: 'one' | 'any' | 'none';
  /** Panels by the heading of their row, from left to right; their widths add up to 24. */
  readonly rows: Readonly<Record<string, readonly MadePanel[]>>;
}

const TAG = 'wagergate';

/** A dashboard as Grafana provisions it. */
export function board(spec: BoardSpec): Dashboard {
  const builder = new DashboardBuilder(spec.title)
    .uid(`${TAG}-${spec.name}`)
    .description(spec.why)
    .tags([TAG])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .links([siblings()])
    .variables([datasource(), operator(spec.operators)]);
  for (const [heading, panels] of Object.entries(spec.rows)) {
    builder.withRow(new RowBuilder(heading));
    for (const panel of panels) builder.withPanel(panel);
  }
  const built = builder.build();
  const panels = (built.panels ?? []).map((panel, index) => ({ ...panel, id: index + 1 }));
  // The builder puts links into a menu; these should be visible.
  const links = (built.links ?? []).map(({ placement: _, ...link }) => link);
  return { ...built, panels, links };
}

function siblings(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Wagergate')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .includeVars(true)
    .keepTime(true);
}

function datasource(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus');
}

function operator(operators: BoardSpec['operators']): QueryVariableBuilder {
  const variable = new QueryVariableBuilder('operator')
    .label('Operator')
    .datasource(DATASOURCE)
    .query('label_values(gateway_operator_info, operator)')
    .refresh(VariableRefresh.OnDashboardLoad)
    .sort(VariableSort.AlphabeticalAsc);
  if (operators === 'one') return variable;
  if (operators === 'none') variable.hide(VariableHide.HideVariable);
  return variable
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' });
}
