#!/bin/sh
# box.sh FOLDER STAND CGROUP PROJECT: becomes a machine that systemd boots, as systemd.io/CONTAINER_INTERFACE asks. Its files
# are this machine's under FOLDER/upper, its unit files FOLDER/units; the test stand is at /mnt, and PROJECT where it is here,
# also where that is hidden by what is mounted.
set -eu
folder=$1 stand=$2 cgroup=$3 project=$4

if [ "${5:-}" != inside ]; then
  echo $$ >"$cgroup/cgroup.procs"
  exec unshare --mount --uts --ipc --pid --cgroup --fork --kill-child --propagation private \
    sh "$0" "$folder" "$stand" "$cgroup" "$project" inside
fi

root=$folder/root
# What a server of this machine left is not there (overlayfs.rst, "whiteouts and opaque directories").
if [ ! -e "$folder/upper" ]; then
  for path in etc/deployer usr/local/bin/deployer usr/local/lib/deployer var/lib/deployer; do
    mkdir -p "$folder/upper/${path%/*}"
    mknod "$folder/upper/$path" c 0 0
  done
fi
mkdir -p "$folder/upper/etc/systemd/system-generators" "$folder/work" "$root"
# Scripts of /etc/init.d belong to this machine.
ln -sf /dev/null "$folder/upper/etc/systemd/system-generators/systemd-sysv-generator"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount --bind "$folder/units" "$root/etc/systemd/system"
mount --bind "$stand" "$root/mnt"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root$project"
mount --bind "$project" "$root$project"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
# What systemd says to people goes nowhere; it is in the journal.
mknod -m 666 "$root/dev/console" c 1 3
mkdir -p "$root/.old"
cd "$root"
pivot_root . .old
umount -l /.old
hostname box
exec env -i container=deployer-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /usr/lib/systemd/systemd --unit=multi-user.target --log-target=journal
