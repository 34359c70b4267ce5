import { type Problem, problemIn } from '../problems.ts';
import type { OperatorConfig } from '../schema/schema.ts';

/**
 * Dialect items that are probably a misunderstanding. The code given for a status is the protocol's:
 * `mapCodes` is not applied to it (docs/dialects.md, mapCodes).
 */
export function doubtfulDialect({ id, wallet }: OperatorConfig): readonly Problem[] {
  const { errorStatuses, mapCodes } = wallet.dialect;
  return Object.entries(errorStatuses).flatMap(([status, code]) => {
    const mapping = Object.entries(mapCodes).filter(
      ([, codes]) => (codes?.[String(code)] ?? code) !== code,
    );
    if (mapping.length === 0) return [];
    const names = mapping.map(([operation]) => `mapCodes.${operation}.${code}`).join(', ');
    return problemIn(`operators/${id}.yaml`, {
      path: ['wallet', 'dialect', 'errorStatuses', status],
      reason: `stands for the protocol's code ${code}: ${names} maps codes of bodies, and is not asked. Write the code that is meant`,
    });
  });
}
