import type { FastifyInstance } from 'fastify';

/** Method and path of every route, read from Fastify's printed tree. */
export function routesOf(app: FastifyInstance): string[] {
  const above: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const match = /^([│ ]*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line);
      if (match === null) return [];
      const [, indent = '', part = '', methods = ''] = match;
      const depth = indent.length / 4;
      above.splice(depth, above.length, part);
      const path = above.join('');
      return methods
        .split(', ')
        .filter((method) => method !== '' && method !== 'HEAD')
        .map((method) => `${method} ${path}`);
    });
}
