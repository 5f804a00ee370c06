#!/usr/bin/env bash
# Three NATS servers on this machine, to try coordinators that share them; not for data that must outlive its disk.
#
#   three-servers.sh start [DIR] [PORT]   starts them, on PORT, PORT+1 and PORT+2, and prints their URLs
#   three-servers.sh stop [DIR]           ends those, and no others
#   three-servers.sh pid N [DIR]          prints the process of server 1, 2 or 3
#
# DIR (default: nats-data) keeps their data. The server is built from this repository's go.mod.
set -euo pipefail

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
module=$(cd "$(dirname "$0")/../.." && pwd)

# ours PID N: it is the process of our server N, and no later one of the same number.
ours() { [ -r "/proc/$1/cmdline" ] && tr '\0' '\n' <"/proc/$1/cmdline" | grep -qxF "$dir/$2.conf"; }

pid() {
	local pid
	pid=$(cat "$dir/$1.pid" 2>/dev/null) && ours "$pid" "$1" && echo "$pid"
}

configure() { # N
	cat >"$dir/$1.conf" <<-END
		server_name: "foible-$1"
		listen: "127.0.0.1:$((port + $1 - 1))"
		max_payload: 8MB
		jetstream { store_dir: "$dir/$1", sync_interval: always }
		cluster {
			name: "foible"
			listen: "127.0.0.1:$((port + 2000 + $1 - 1))"
			routes: ["nats://127.0.0.1:$((port + 2000))", "nats://127.0.0.1:$((port + 2001))", "nats://127.0.0.1:$((port + 2002))"]
		}
	END
}

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

start() {
	mkdir -p "$dir"
	if [ ! -x "$dir/nats-server" ]; then
		(cd "$module" && go build -o "$dir/nats-server" github.com/nats-io/nats-server/v2)
	fi
	for n in 1 2 3; do
		if pid "$n" >/dev/null; then continue; fi
		for p in $((port + n - 1)) $((port + 2000 + n - 1)); do
			if answers "$p"; then
				echo "port $p is taken, perhaps by servers of another DIR; name another PORT, or stop those" >&2
				exit 1
			fi
		done
	done
	for n in 1 2 3; do
		if pid "$n" >/dev/null; then continue; fi
		configure "$n"
		"$dir/nats-server" -c "$dir/$n.conf" </dev/null >"$dir/$n.log" 2>&1 &
		echo $! >"$dir/$n.pid"
	done
	for n in 1 2 3; do
		for _ in $(seq 100); do
			answers $((port + n - 1)) && continue 2
			pid "$n" >/dev/null || break
			sleep 0.1
		done
		echo "server $n does not start; $dir/$n.log says why" >&2
		tail -n 3 "$dir/$n.log" >&2
		exit 1
	done
	echo "nats://127.0.0.1:$port,nats://127.0.0.1:$((port + 1)),nats://127.0.0.1:$((port + 2))"
}

stop() {
	local pids=()
	for n in 1 2 3; do
		if pid "$n" >/dev/null; then
			pids+=("$(pid "$n")")
			kill "$(pid "$n")"
		fi
		rm -f "$dir/$n.pid"
	done
	for p in "${pids[@]}"; do
		while kill -0 "$p" 2>/dev/null; do sleep 0.1; done
	done
}

case ${1:-} in
start)
	dir=$(realpath -m "${2:-nats-data}")
	port=${3:-4222}
	if [[ ! $port =~ ^[1-9][0-9]{0,4}$ ]] || [ "$port" -gt 63533 ]; then
		echo "PORT $port: must be 1 to 63533" >&2
		exit 2
	fi
	start
	;;
stop)
	dir=$(realpath -m "${2:-nats-data}")
	stop
	;;
pid)
	dir=$(realpath -m "${3:-nats-data}")
	if [[ ! ${2:-} =~ ^[123]$ ]]; then
		echo "say which server, 1, 2 or 3" >&2
		exit 2
	fi
	pid "$2" || { echo "server $2 of $dir does not run; start starts it" >&2; exit 1; }
	;;
*) usage ;;
esac
