// Writes helm/schemas: strict JSON Schemas of the kinds that the chart makes, for kubeconform.
// Only for whoever brings them to a newer Kubernetes; the written files are in the repository.
//
//   version=v1.35.4; operator=v0.85.0
//   go mod download k8s.io/kubernetes@$version github.com/prometheus-operator/prometheus-operator@$operator
//   modules=$(go env GOMODCACHE)
//   node scripts/kubernetes-schemas.mjs \
//     $modules/k8s.io/kubernetes@$version/api/openapi-spec/swagger.json \
//     $modules/github.com/prometheus-operator/prometheus-operator@$operator/example/prometheus-operator-crd
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const KINDS = [
  'io.k8s.api.apps.v1.Deployment',
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'io.k8s.api.batch.v1.Job',
  'io.k8s.api.core.v1.ConfigMap',
  'io.k8s.api.core.v1.Secret',
  'io.k8s.api.core.v1.Service',
  'io.k8s.api.core.v1.ServiceAccount',
  'io.k8s.api.networking.v1.NetworkPolicy',
  'io.k8s.api.policy.v1.PodDisruptionBudget',
];
const OPERATOR_KINDS = ['servicemonitors', 'prometheusrules'];

/** The specification calls them texts; Kubernetes takes numbers as well. */
const OF_TWO_TYPES = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
};

const [, , swaggerFile, operatorFolder] = process.argv;
if (operatorFolder === undefined) {
  process.stderr.write('usage: node scripts/kubernetes-schemas.mjs SWAGGER_JSON CRD_FOLDER\n');
  process.exit(2);
}
const folder = fileURLToPath(new URL('../helm/schemas', import.meta.url));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

const { definitions: all } = JSON.parse(readFileSync(swaggerFile, 'utf8'));
for (const name of KINDS) {
  const [{ group, kind, version }] = all[name]['x-kubernetes-group-version-kind'];
  const definitions = {};
  const schema = { ...strict(all[name], definitions), definitions };
  write(kind, group, version, schema);
}
for (const name of OPERATOR_KINDS) {
  const file = join(operatorFolder, `monitoring.coreos.com_${name}.yaml`);
  const { spec } = parse(readFileSync(file, 'utf8'));
  for (const { name: version, schema } of spec.versions) {
    const root = { ...schema.openAPIV3Schema };
    root.properties = { ...root.properties, metadata: { type: 'object', properties: undefined } };
    write(spec.names.kind, spec.group, version, strict(root, {}));
  }
}

/** As kubeconform looks for it: `{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json`. */
function write(kind, group, version, schema) {
  const name = [kind.toLowerCase(), group.split('.')[0], version].filter(Boolean).join('-');
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(schema)}\n`);
}

/** Without descriptions and extensions; what is not named in it is refused. */
function strict(schema, definitions) {
  if (schema.$ref !== undefined) return { $ref: referred(schema.$ref, definitions) };
  const { type, enum: values, required, items, properties, additionalProperties } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['string', 'integer'] };
  return {
    type,
    enum: values,
    required,
    items: items && strict(items, definitions),
    properties:
      properties &&
      Object.fromEntries(
        Object.entries(properties).map(([key, value]) => [key, strict(value, definitions)]),
      ),
    additionalProperties:
      typeof additionalProperties === 'object'
        ? strict(additionalProperties, definitions)
        : properties === undefined
          ? additionalProperties
          : false,
  };
}

function referred(ref, definitions) {
  const name = ref.replace('#/definitions/', '');
  if (definitions[name] === undefined) {
    // First a place: some refer to themselves.
    definitions[name] = {};
    definitions[name] = OF_TWO_TYPES[name] ?? strict(all[name], definitions);
  }
  return `#/definitions/${name}`;
}
