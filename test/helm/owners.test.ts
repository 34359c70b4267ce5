import { describe, expect, it } from 'vitest';
import { renderChart } from './support/render.ts';
import { OWN } from './support/values.ts';

/** A cluster in which the release `gw` has made everything that the values name, with these annotations besides. */
const madeBy =
  (release: string, annotations = {}) =>
  () => ({ metadata: { annotations: { 'meta.helm.sh/release-name': release, ...annotations } } });

// On a real API server Helm deleted both Secrets and both ConfigMaps with such an upgrade; no pod could start any more.
describe('a Secret or ConfigMap that is named as one’s own', () => {
  it.each([
    'Secret/betting/my-secret',
    'Secret/betting/my-files',
    'ConfigMap/betting/my-operators',
  ])('is refused where this release has made it, since Helm would delete it (%s)', (path) => {
    const [kind = '', namespace, name] = path.split('/');
    const cluster = (asked: string) => (asked === path ? madeBy('gw')() : {});
    expect(() => renderChart(OWN, cluster)).toThrow(
      `kubectl --namespace ${namespace} annotate ${kind.toLowerCase()} ${name} helm.sh/resource-policy=keep`,
    );
  });

  it('is taken where Helm was told to keep it, where another release has made it, and where nobody has', () => {
    const without = renderChart(OWN);
    expect(renderChart(OWN, madeBy('gw', { 'helm.sh/resource-policy': 'keep' }))).toEqual(without);
    expect(renderChart(OWN, madeBy('other'))).toEqual(without);
    expect(renderChart(OWN, () => ({ metadata: { name: 'my-secret' } }))).toEqual(without);
  });
});
