import { type Problem, problemIn } from './problems.ts';
import type { Configuration, GatewayConfig, OperatorConfig } from './schema.ts';
import { AGREED_SECRET_LENGTH_GOOD } from './secret-length.ts';

/** What of a configuration is taken, but should be better: one line for people each, no secret. */
export function weakSecrets({ gateway, operators }: Configuration): readonly Problem[] {
  return [...weakOfGateway(gateway), ...[...operators.values()].flatMap(weakOfOperator)];
}

export function weakOfGateway({ service }: GatewayConfig): readonly Problem[] {
  return short('gateway.yaml', ['service', 'secrets'], service.secrets);
}

export function weakOfOperator({ id, wallet, api, bonuses }: OperatorConfig): readonly Problem[] {
  const file = `operators/${id}.yaml`;
  const upstream = bonuses.upstream?.secrets ?? [];
  const twice = api.secrets.flatMap((secret, at) =>
    wallet.secrets.includes(secret) || upstream.includes(secret)
      ? problemIn(file, {
          path: ['api', 'secrets', at],
          reason:
            'signs something else as well: what is signed for one could be used for the other',
        })
      : [],
  );
  return [
    ...short(file, ['wallet', 'secrets'], wallet.secrets),
    ...short(file, ['bonuses', 'upstream', 'secrets'], upstream),
    ...twice,
  ];
}

function short(file: string, path: readonly string[], secrets: readonly string[]) {
  return secrets.flatMap((secret, at) =>
    secret.length >= AGREED_SECRET_LENGTH_GOOD
      ? []
      : problemIn(file, {
          path: [...path, at],
          reason: `has fewer than ${AGREED_SECRET_LENGTH_GOOD} characters: agree on a longer one`,
        }),
  );
}
