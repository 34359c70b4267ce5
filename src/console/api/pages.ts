import { useInfiniteQuery } from '@tanstack/react-query';
import { call } from './call.ts';
import { LIVE_MS, untilSignedOut } from './queries.ts';
import type { Answers } from './wire.ts';

type ListRoute =
  | 'GET /admin/audit'
  | 'GET /admin/bets'
  | 'GET /admin/books/days'
  | 'GET /admin/deliveries'
  | 'GET /admin/reconciliations'
  | 'GET /admin/reconciliations/:id/differences';

/** A list of the admin API, page by page, refreshed while somebody looks at it. */
export function usePages<R extends ListRoute>(
  route: R,
  query: Readonly<Record<string, string | undefined>>,
  path: Readonly<Record<string, string>> = {},
  isEnabled = true,
) {
  return useInfiniteQuery({
    queryKey: [route, 'pages', path, query],
    queryFn: ({ pageParam, signal }): Promise<Answers[R]> =>
      call(route, { path, query: { ...query, cursor: pageParam }, signal }),
    enabled: isEnabled,
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }: Answers[R]) => nextCursor ?? undefined,
    refetchInterval: untilSignedOut(LIVE_MS),
  });
}
