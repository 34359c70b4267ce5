interface MoreProps {
  readonly list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}

/** The button that loads the next page of a list, if there is one. */
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
