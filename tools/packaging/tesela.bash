# bash completion of tesela: subcommands, options, decks, outputs, benchmarks, topics and keys.
# Names of benchmarks, topics and keys are asked of the program itself.

_tesela_benches() { "$1" bench 2>/dev/null | awk '{ print $1 }'; }

_tesela_topics() {
  echo run serve plan devices calibrate rates probe bench show run-keys output-keys tri dp xc fractal
}

# family.key= of the deck on the command line, or of run: and output:.
_tesela_keys() {
  local program=$1 deck family section
  shift
  for deck in "$@"; do
    [[ $deck == *.y*ml && -r $deck ]] || continue
    family=$(sed -n 's/^family: *\([a-z]*\).*/\1/p' "$deck" | head -n 1)
  done
  for section in run output $family; do
    local topic=$section
    [[ $section != run && $section != output ]] || topic=$section-keys
    "$program" help "$topic" 2>/dev/null |
      sed -n "s/^  \([a-z_]*\): .*/$section.\1=/p"
  done
}

_tesela() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} words=''
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    words="run serve plan devices calibrate rates probe bench show help --version --help"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    return
  fi
  case $before in
    -s | --set)
      mapfile -t COMPREPLY < <(compgen -W "$(_tesela_keys "$program" "${COMP_WORDS[@]:2}")" -- "$word")
      [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
      return ;;
    -o | --output | --trace | --restart | --csv | --cluster)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return ;;
  esac
  if [[ $word == -* ]]; then
    case $command in
      run) words="--output --overwrite --strict --set --interpret --restart --max-walltime --trace --quiet --help" ;;
      serve) words="--ipi --mdi --qcschema --set --quiet --help" ;;
      plan) words="--cluster --restart --set --interpret --quiet --help" ;;
      calibrate | rates) words="--set --interpret --quiet --help" ;;
      bench) words="--csv --help" ;;
      probe) words="--device --again --csv --threads --calibration --help" ;;
      show) words="--values --help" ;;
      *) words="--help" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    return
  fi
  case $command in
    run | serve | plan | calibrate | rates)
      mapfile -t COMPREPLY < <(compgen -f -X '!*.@(yaml|yml|json)' -- "$word"; compgen -d -S / -- "$word")
      compopt -o nospace 2>/dev/null ;;
    show)
      mapfile -t COMPREPLY < <(compgen -f -X '!*.h5' -- "$word"; compgen -d -S / -- "$word")
      compopt -o nospace 2>/dev/null ;;
    bench) mapfile -t COMPREPLY < <(compgen -W "$(_tesela_benches "$program")" -- "$word") ;;
    help) mapfile -t COMPREPLY < <(compgen -W "$(_tesela_topics)" -- "$word") ;;
  esac
}
shopt -s extglob
complete -F _tesela tesela
