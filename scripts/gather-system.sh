#!/bin/sh
# Gathers what the gateway needs of the Debian it is built on: Node, a shell, a few programs to look
# around with, and the libraries of these. No package manager, no npm, nothing with a setuid bit.
#
#   sh gather-system.sh FOLDER
set -eu
root=$1
programs='node sh env sleep cat ls id head tail'
files='/etc/passwd /etc/group /etc/nsswitch.conf /etc/debian_version /usr/lib/os-release'

mkdir -p "$root"
# /bin, /lib and /lib64 where they are links into /usr.
for link in /bin /lib /lib64 /sbin; do
  if [ -L "$link" ]; then cp -a "$link" "$root/"; fi
done

# By its real folder, and as a file of its own: links need not lead out of what was gathered.
take() {
  folder=$(readlink -f "$(dirname "$1")")
  mkdir -p "$root$folder"
  cp -pL "$1" "$root$folder/"
  owner "$1"
}

# Scanners learn from here which packages, in which versions, these files come from.
owner() {
  file=$(readlink -f "$1")
  # Debian 12 knows some files by the place they had before /lib and /bin became links.
  package=$({ dpkg -S "$file" || dpkg -S "${file#/usr}" || true; } 2>/dev/null | head -n 1 | cut -d: -f1)
  # Node itself, and what scripts have made.
  [ -n "$package" ] || return 0
  mkdir -p "$root/var/lib/dpkg/status.d" "$root/usr/share/doc/$package"
  dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
  if [ -e "/usr/share/doc/$package/copyright" ]; then
    cp -pL "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
  fi
}

for program in $programs; do
  path=$(command -v "$program")
  take "$path"
  for library in $(ldd "$path" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p'); do
    take "$library"
  done
done
for file in $files; do
  if [ -e "$file" ]; then take "$file"; fi
done
ln -s ../usr/lib/os-release "$root/etc/os-release"

# For GATEWAY_CONFIG=/etc/wagergate: two folders to mount, because a ConfigMap mounted as a folder
# follows its changes and a single mounted file does not.
mkdir -p "$root/etc/wagergate/gateway" "$root/etc/wagergate/operators"
ln -s gateway/gateway.yaml "$root/etc/wagergate/gateway.yaml"
ln -s /app/src/cli/launcher.mjs "$root/usr/local/bin/wagergate"
mkdir -p "$root/app" "$root/run" "$root/proc" "$root/sys" "$root/dev"
mkdir -m 1777 "$root/tmp"
mkdir -p "$root/home/node" && chown 1000:1000 "$root/home/node"

# The same system makes the same layer, whenever it is built.
find "$root" -exec touch --no-dereference --date=@0 {} +
