import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Configuration, OperatorConfig } from '../../config/schema/schema.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { Authority } from '../../store/audit/audited.ts';
import type { Assignment } from '../../store/bonuses/assignment.ts';
import { conflict, json, notFoundAnswer, serve } from '../answers.ts';
import type { AdminApi } from '../api.ts';
import { checkedBody, checkedPath, reasonField } from '../input.ts';
import { operatorPath } from './operators.ts';

const TEMPLATES_MAX = 100;

const assignBody = z.strictObject({
  templates: z
    .array(
      z
        .string('must be a list of ids as text')
        .regex(/^(?:0|[1-9]\d{0,15})$/, "must be the service's whole number as text"),
      'must be a list of ids as text',
    )
    .min(1, 'must name a template')
    .max(TEMPLATES_MAX, `must name at most ${TEMPLATES_MAX}`),
  reason: reasonField,
});

/** The outcome of assigning templates. */
export type Assigned =
  | ({ readonly kind: 'assigned' } & Assignment)
  /** The operator has its own partner account, and so owns all templates there. */
  | { readonly kind: 'exclusive' };

export interface TemplateDependencies {
  readonly configuration: () => Configuration;
  /** Assigns all of them or none. @throws GatewayError `DATABASE_UNAVAILABLE` */
  readonly assignTemplates: (
    operator: OperatorConfig,
    templateIds: readonly string[],
    by: Authority,
  ) => Promise<Assigned>;
}

/** Lets a person assign templates made in the service's console to an operator. */
export function templateRoutes(
  app: FastifyInstance,
  { configuration, assignTemplates }: TemplateDependencies,
): void {
  const url = '/operators/:id/templates/assign';
  serve(app, 'POST', url, 'administer', async (request, caller) => {
    const path = checkedPath(operatorPath, request);
    if (!('fields' in path)) return path;
    const input = checkedBody(assignBody, request);
    if (!('fields' in input)) return input;
    const operator = configuration().operators.get(path.fields.id);
    if (operator === undefined) return notFoundAnswer('No such operator');
    const { templates, reason } = input.fields;
    return assignedAnswer(await assignTemplates(operator, templates, { caller, reason }));
  });
}

function assignedAnswer(result: Assigned): Answer {
  switch (result.kind) {
    case 'exclusive':
      return conflict('It has a partner account of its own: all templates there are its own');
    case 'assigned': {
      const { assigned, unchanged, taken } = result;
      if (taken.length > 0) {
        const owned = taken.map(({ templateId, operatorId }) => `${templateId} (${operatorId})`);
        return conflict(`Nothing assigned: another operator owns template ${owned.join(', ')}`);
      }
      return json({
        assigned,
        unchanged,
      } satisfies AdminApi['POST /admin/operators/:id/templates/assign']);
    }
    default:
      return unreachable(result);
  }
}
