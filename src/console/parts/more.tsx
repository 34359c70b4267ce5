interface MoreProps {
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}

/** The next page of a list, where there is one. */
export function More({ list }: MoreProps) {
  if (!list.hasNextPage) return null;
  return (
    <p className="more">
      <button
        type="button"
        onClick={() => void list.fetchNextPage()}
        disabled={list.isFetchingNextPage}
      >
        {list.isFetchingNextPage ? 'Loading…' : 'Show more'}
      </button>
    </p>
  );
}
