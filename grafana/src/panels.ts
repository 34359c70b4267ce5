import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BarGaugeDisplayMode,
  BarGaugeSizing,
  BigValueTextMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTextDisplayOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  MappingType,
  type Panel,
  type SpecialValueMap,
  SpecialValueMatch,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMap,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  PanelBuilder as Heatmap,
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  YAxisConfigBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';

/** The dashboard variable that names its Prometheus. */
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

export interface PanelSpec {
  readonly title: string;
  /** The question that it answers, and what the answer means. */
  readonly why: string;
  /** One of Grafana's unit ids. */
  readonly unit: string;
  /** PromQL by legend; `{{label}}` takes a label's value. */
  readonly queries: Readonly<Record<string, string>>;
  /** How many of the 24 columns it takes. */
  readonly width: number;
  /** The colour from each value on; below the first value it is green. */
  readonly steps?: readonly (readonly [from: number, colour: Colour])[];
  /** The colour below the first step, if low values are bad. */
  readonly lowest?: Colour;
  /** Values of a number that stand for a word. */
  readonly words?: readonly (State & { readonly value: number })[];
  /** No decimals: Prometheus estimates how much a counter grew, so one event is 1.02. The unit is `locale`. */
  readonly whole?: boolean;
  /** Whether a number's legend is shown besides it. */
  readonly names?: 'too';
  /** Fixed colours by legend; for all others Grafana takes the next one of its palette. */
  readonly colours?: Readonly<Record<string, string>>;
  /** Whether it shows only what is out of order, so that it may well be empty. */
  readonly sparse?: boolean;
  /** Areas stacked on each other, for parts of a whole. */
  readonly stacked?: boolean;
  /** Whether a click on an operator leads to its dashboard. */
  readonly leadsToOperator?: boolean;
}

export type Colour = 'green' | 'yellow' | 'orange' | 'red';
export type MadePanel = Builder<Panel>;

/** Nothing at all; or nobody is scraped, which is not `none`. */
const NO_DATA = 'no data';
const NOBODY_KNOWS: SpecialValueMap = {
  type: MappingType.SpecialValue,
  options: {
    match: SpecialValueMatch.NullAndNan,
    result: { text: NO_DATA, color: 'text' },
  },
};

const SERIES_HEIGHT = 8;
const STAT_HEIGHT = 4;

/** A number that should be readable at a glance. Without one it is grey, not of the colour of a good or bad number. */
export function stat(spec: PanelSpec): MadePanel {
  const panel = common(new Stat(), spec, STAT_HEIGHT, 'now')
    .mappings([
      ...(spec.words ?? []).map(({ value, text, colour }) =>
        inWords({ [value]: { text, color: colour } }),
      ),
      NOBODY_KNOWS,
    ])
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
  if (spec.names === undefined) return panel;
  return panel.textMode(BigValueTextMode.ValueAndName);
}

/** Values over time; steps are lines across the panel. */
export function series(spec: PanelSpec): MadePanel {
  const panel = common(new TimeSeries(), spec, SERIES_HEIGHT, 'over time')
    .min(0)
    .lineWidth(1)
    .fillOpacity(spec.stacked === true ? 40 : 5)
    .showPoints(VisibilityMode.Never)
    .legend(legend())
    .tooltip(tooltip());
  if (spec.stacked === true) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
  for (const [name, fixedColor] of Object.entries(spec.colours ?? {})) {
    panel.overrideByName(name, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  }
  if (spec.steps !== undefined) {
    const dashed = GraphThresholdsStyleMode.Dashed;
    panel.thresholdsStyle(new GraphThresholdsStyleConfigBuilder().mode(dashed));
  }
  return panel;
}

/** The highest values as bars, by label. */
export function ranking(spec: PanelSpec): MadePanel {
  return common(new BarGauge(), { sparse: true, ...spec }, SERIES_HEIGHT, 'now')
    .min(0)
    .orientation(VizOrientation.Horizontal)
    .displayMode(BarGaugeDisplayMode.Basic)
    .sizing(BarGaugeSizing.Manual)
    .maxVizHeight(44)
    .text(new VizTextDisplayOptionsBuilder().titleSize(14).valueSize(20))
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
}

/** A histogram over time; the query gives its buckets by `le`. */
export function heatmap(spec: PanelSpec): MadePanel {
  const colours = new HeatmapColorOptionsBuilder()
    .mode(HeatmapColorMode.Scheme)
    .scheme('Oranges')
    .fill('dark-orange')
    .scale(HeatmapColorScale.Exponential)
    .exponent(0.5)
    .steps(64);
  return common(new Heatmap(), spec, SERIES_HEIGHT, 'buckets')
    .calculate(false)
    .color(colours)
    .yAxis(new YAxisConfigBuilder().unit(spec.unit));
}

export interface State {
  readonly text: string;
  readonly colour: Colour;
}

/** When something was in which of a few states; the values are the states' indexes. */
export function timeline(spec: PanelSpec, states: readonly State[]): MadePanel {
  const options = Object.fromEntries(
    states.map(({ text, colour }, index) => [`${index}`, { text, color: colour, index }]),
  );
  return common(new StateTimeline(), spec, SERIES_HEIGHT, 'over time')
    .mappings([inWords(options)])
    .mergeValues(true)
    .showValue(VisibilityMode.Never)
    .rowHeight(0.8)
    .legend(legend());
}

function inWords(options: ValueMap['options']): ValueMapping {
  return { type: MappingType.ValueToText, options };
}

interface AnyPanel<This> {
  title(title: string): This;
  description(description: string): This;
  datasource(ref: typeof DATASOURCE): This;
  unit(unit: string): This;
  span(columns: number): This;
  height(rows: number): This;
  noValue(text: string): This;
  decimals(decimals: number): This;
  thresholds(thresholds: ThresholdsConfigBuilder): This;
  targets(targets: Builder<Dataquery>[]): This;
  dataLinks(links: DashboardLinkBuilder[]): This;
}

type Shape = 'now' | 'over time' | 'buckets';

function common<This extends AnyPanel<This>>(
  panel: This,
  spec: PanelSpec,
  height: number,
  shape: Shape,
): This {
  const made = panel
    .title(spec.title)
    .description(spec.why)
    .datasource(DATASOURCE)
    .unit(spec.unit)
    .span(spec.width)
    .height(height)
    .noValue(spec.sparse === true ? `none, or ${NO_DATA}` : NO_DATA)
    .thresholds(thresholds(spec))
    .targets(Object.entries(spec.queries).map((query, index) => target(query, index, shape)));
  if (spec.whole === true) made.decimals(0);
  return spec.leadsToOperator === true ? made.dataLinks([operatorLink()]) : made;
}

function target([legendText, expr]: [string, string], index: number, shape: Shape) {
  const query = new DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legendText);
  if (shape === 'buckets') return query.range().format(PromQueryFormat.Heatmap);
  return shape === 'now' ? query.instant() : query.range();
}

function thresholds({ steps = [], lowest = 'green' }: PanelSpec): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: lowest }, ...steps.map(([value, color]) => ({ value, color }))]);
}

function operatorLink(): DashboardLinkBuilder {
  const url =
    '/d/wagergate-operator?var-datasource=${datasource}&var-operator=${__field.labels.operator}&${__url_time_range}';
  return new DashboardLinkBuilder('This operator').url(url);
}

function legend(): VizLegendOptionsBuilder {
  return new VizLegendOptionsBuilder()
    .displayMode(LegendDisplayMode.List)
    .placement(LegendPlacement.Bottom)
    .showLegend(true);
}

function tooltip(): VizTooltipOptionsBuilder {
  return new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending);
}
